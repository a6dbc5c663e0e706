"""TFD311 library-path-cudnn."""

from __future__ import annotations

from typing import Optional

from tfdoctor.engine import rule
from tfdoctor.model import Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._elsewhere import elsewhere
from tfdoctor.rules.libraries._which import Situation
from tfdoctor.tables import Tables


@rule("TFD311", Severity.ERROR, blocks=True)
def library_path_cudnn(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    libraries: Libraries,
    tables: Tables,
    environment: Optional[Environment],
) -> Found:
    """CUDA is found, cuDNN is installed, but the loader does not search the folder of cuDNN.

    ## What it is
    cuDNN is a library of its own and often lies in a folder of its own: an environment module, an archive that was unpacked
    to `/opt` or a home folder, `/usr/local/cudnn`. TensorFlow counts no GPU when cuDNN alone is missing. The usual
    reason on clusters: a later module overwrote LD_LIBRARY_PATH instead of extending it.

    ## How it shows
    - `Cannot dlopen some GPU libraries.` without a name in newer releases; in older ones
      `Could not load dynamic library 'libcudnn.so.8'` after every CUDA library was opened

    ## How to be sure
    `TF_CPP_MAX_VLOG_LEVEL=3` names the library; `ldconfig -p | grep cudnn` and LD_LIBRARY_PATH lack its folder.

    ## What to do
    - Linux, WSL2: put the folder of `libcudnn.so.N` on LD_LIBRARY_PATH before Python starts, or let `ldconfig` know it.
    - Slurm, clusters: load the cuDNN module last, then `echo $LD_LIBRARY_PATH`; report a module that overwrites it.
    - Docker, Kubernetes: `ENV LD_LIBRARY_PATH`, extended and not replaced.
    - Or `python -m pip install 'tensorflow[and-cuda]'` (2.14 and newer), which brings its own.
    - Windows: cuDNN's `bin` folder on PATH. macOS: there is no cuDNN.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/66987
    - https://docs.nvidia.com/deeplearning/cudnn/installation/latest/linux.html
    """
    return elsewhere(Situation(tensorflow, libraries, tables), "library-path-cudnn", environment)
