"""TFD310 library-path-system-cuda."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.model import Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._elsewhere import elsewhere
from tfdoctor.rules.libraries._fixes import with_extra
from tfdoctor.rules.libraries._which import Situation
from tfdoctor.tables import Tables


@rule("TFD310", Severity.ERROR, blocks=True)
def library_path_system_cuda(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    libraries: Libraries,
    tables: Tables,
    environment: Optional[Environment],
    interpreter: Optional[Interpreter],
) -> Found:
    """A CUDA toolkit of the right version is installed, but the loader does not search its folder.

    ## What it is
    The loader looks into the RUNPATH of the program, LD_LIBRARY_PATH, the cache that `ldconfig` writes, and `/lib`
    and `/usr/lib`. A toolkit in `/usr/local/cuda-X.Y/lib64` is in none of them until its folder is registered. The link
    `/usr/local/cuda` may also point to another version than the one that TensorFlow needs.

    ## How it shows
    - `Could not load dynamic library 'libcudart.so.…'`, `Cannot dlopen some GPU libraries`
    - `nvcc --version` and `nvidia-smi` both work: neither uses the loader's path.

    ## How to be sure
    `ldconfig -p | grep libcudart` and `echo $LD_LIBRARY_PATH` do not show the folder that holds the file.

    ## What to do
    - Linux, WSL2: put that `lib64` folder on LD_LIBRARY_PATH before Python starts, or (root) write it into a file
      below `/etc/ld.so.conf.d/` and run `ldconfig`. Name the version, not `/usr/local/cuda`.
    - Or use `tensorflow[and-cuda]` (2.14 and newer), which needs no system CUDA.
    - Services, cron, IDEs, Jupyter: they do not read `~/.bashrc`; set the variable where they start.
    - Docker, Kubernetes: `ENV LD_LIBRARY_PATH`. Slurm: `module load`, and check that no later module overwrites it.
    - Windows: the toolkit's `bin` folder on PATH, then a new shell. macOS: there is no CUDA.

    ## References
    - https://docs.nvidia.com/cuda/cuda-installation-guide-linux/
    - https://man7.org/linux/man-pages/man8/ld.so.8.html
    """
    situation = Situation(tensorflow, libraries, tables, environment=environment)
    more = (remedies.install(interpreter, with_extra(tensorflow, tables)),) if situation.has_extra else ()
    return elsewhere(situation, "library-path-system-cuda", environment, *more)
