"""TFD309 library-path-conda-env."""

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


@rule("TFD309", Severity.ERROR, blocks=True)
def library_path_conda_env(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    libraries: Libraries,
    tables: Tables,
    environment: Optional[Environment],
) -> Found:
    """The CUDA libraries are in the conda environment, and TensorFlow, which pip installed, does not search there.

    ## What it is
    conda puts `cudatoolkit` and `cudnn` into `$CONDA_PREFIX/lib`. Programs that conda built find them through their own
    RPATH; TensorFlow from pip was not built by conda and relies on LD_LIBRARY_PATH. Activating the environment
    changes PATH only, and PATH means nothing to the loader.

    ## How it shows
    - `Could not load dynamic library 'libcudart.so.11.0'; dlerror: … cannot open shared object file`
    - `Cannot dlopen some GPU libraries`, `list_physical_devices('GPU')` is `[]`

    ## How to be sure
    `ls $CONDA_PREFIX/lib/libcudart.so*` shows the file; `echo $LD_LIBRARY_PATH` does not show that folder.

    ## What to do
    - Linux, WSL2: a script in `$CONDA_PREFIX/etc/conda/activate.d/` that puts `$CONDA_PREFIX/lib` in front of
      LD_LIBRARY_PATH, and one in `deactivate.d/` that takes it back. Then activate the environment again.
    - Or take CUDA from pip too: `python -m pip install 'tensorflow[and-cuda]'` (2.14 and newer).
    - Or take TensorFlow from conda too: a package with `cuda` in its build string.
    - Jupyter: put the variable into the kernel's `kernel.json`; kernels do not run activation scripts.
    - Docker, Kubernetes, Slurm: set it in the image, pod or job script, after the environment is activated.
    - Windows: conda's `Library\\bin` must be on PATH. macOS: there is no CUDA.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/56413
    - https://docs.conda.io/projects/conda/en/latest/user-guide/tasks/manage-environments.html
    """
    return elsewhere(Situation(tensorflow, libraries, tables), "library-path-conda-env", environment)
