"""TFD303 pip-nvidia-libs-not-on-path."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.probes.toolkits import Toolkits
from tfdoctor.rules.libraries._fixes import search_path, with_extra
from tfdoctor.rules.libraries._which import Situation
from tfdoctor.tables import Tables


@rule("TFD303", Severity.ERROR, blocks=True)
def pip_nvidia_libs_not_on_path(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    libraries: Libraries,
    tables: Tables,
    environment: Optional[Environment],
    distributions: Optional[Distributions],
    toolkits: Optional[Toolkits],
    interpreter: Optional[Interpreter],
) -> Found:
    """The CUDA libraries are installed as pip packages, but the loader does not search their folders.

    ## What it is
    NVIDIA's wheels put their libraries into `site-packages/nvidia/*/lib`, where the loader never looks by itself. TensorFlow
    2.14 and newer finds them through a RUNPATH relative to its own folder. That does not help when TensorFlow is older, or
    when the wheels lie in another site-packages than TensorFlow does (the user's, a system-wide one, a second environment).

    ## How it shows
    - `Cannot dlopen some GPU libraries. … Skipping registering GPU devices...`
    - `Could not load dynamic library 'libcudart.so.11.0'; dlerror: … cannot open shared object file`
    - `list_physical_devices('GPU')` is `[]`; with LD_LIBRARY_PATH over the folders it lists the GPUs.

    ## How to be sure
    `python -m pip show -f nvidia-cudnn-cu12` tells where the files are; compare with the `Location` of tensorflow.

    ## What to do
    - Linux, WSL2: install TensorFlow and its CUDA packages into one virtual environment, with
      `python -m pip install 'tensorflow[and-cuda]'` (2.14 or newer).
    - To stay: put every `site-packages/nvidia/*/lib` on LD_LIBRARY_PATH before Python starts, in the environment's
      activation script.
    - Docker, Kubernetes: `ENV LD_LIBRARY_PATH=…` in the image. Slurm: in the job script, after loading modules.
    - Never install a system CUDA for this. Windows, macOS: does not arise.

    ## References
    - https://www.tensorflow.org/install/pip
    - https://github.com/tensorflow/tensorflow/issues/65035
    """
    situation = Situation(tensorflow, libraries, tables, toolkits=toolkits, distributions=distributions)
    fault = situation.fault("pip-nvidia-libs-not-on-path")
    if fault is None:
        return None
    fixes = [search_path(fault.folders, environment)]
    if situation.has_extra:
        fixes.append(remedies.install(interpreter, with_extra(tensorflow, tables)))
    return Diagnosis(
        _("{names} is installed as a pip package in {folders}, where TensorFlow {version} does not search.").format(
            names=fault.names, folders=", ".join(fault.folders), version=tensorflow.version
        ),
        evidence=fault.evidence,
        fixes=tuple(fixes),
    )
