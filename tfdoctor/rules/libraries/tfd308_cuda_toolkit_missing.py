"""TFD308 cuda-toolkit-missing."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.probes.toolkits import Toolkits
from tfdoctor.rules.libraries._which import Situation
from tfdoctor.tables import Tables


@rule("TFD308", Severity.ERROR, blocks=True)
def cuda_toolkit_missing(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    libraries: Libraries,
    tables: Tables,
    distributions: Optional[Distributions],
    toolkits: Optional[Toolkits],
) -> Found:
    """This TensorFlow takes CUDA from the system, and no CUDA of its version is installed there.

    ## What it is
    TensorFlow before 2.14 and every GPU build for native Windows (2.10 and older) has no extra that brings CUDA: the toolkit
    and cuDNN must be installed on the system or by conda. Here no file of the wanted name exists anywhere.

    ## How it shows
    - Windows: `Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found`. One file of that name
      serves all of CUDA 11.
    - Linux: `Could not load dynamic library 'libcudart.so.11.0'`, `Could not find cuda drivers on your machine`

    ## How to be sure
    Windows: `where cudart64_110.dll` finds nothing and `C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA` has no such
    version. Linux: `ls -d /usr/local/cuda*` and `ldconfig -p | grep cudart` are empty. `nvidia-smi` does not tell.

    ## What to do
    - Windows, TensorFlow 2.5 to 2.10: CUDA 11.2 with cuDNN 8.1, their `bin` folders on PATH, then a new shell.
    - Windows, newer TensorFlow: WSL2 (see windows-native-gpu-dropped).
    - Linux, WSL2: TensorFlow 2.14 or newer as `tensorflow[and-cuda]`, or the toolkit and cuDNN of the table below.
    - conda: `cudatoolkit` and `cudnn` of that version in the environment.
    - Docker, Kubernetes: a base image with that CUDA and cuDNN. Slurm: the site's modules.
    - macOS: there is no CUDA.

    ## References
    - https://www.tensorflow.org/install/source#gpu
    - https://www.tensorflow.org/install/source_windows#gpu
    - https://developer.nvidia.com/cuda-toolkit-archive
    """
    situation = Situation(tensorflow, libraries, tables, toolkits=toolkits, distributions=distributions)
    fault = situation.fault("cuda-toolkit-missing")
    if fault is None:
        return None
    release = tables.release(tensorflow.version)
    cudnn = (release.cudnn if release else None) or tensorflow.cudnn or "?"
    return Diagnosis(
        _(
            "TensorFlow {version} needs a CUDA {cuda} toolkit with cuDNN {cudnn} on the system; {names} is nowhere on this "
            "machine."
        ).format(version=tensorflow.version, cuda=tensorflow.cuda, cudnn=cudnn, names=fault.names),
        evidence=(
            Evidence(_("no copy of {names}").format(names=fault.names), libraries.source),
            *(
                (Evidence(_("CUDA {cuda}, cuDNN {cudnn}").format(cuda=tensorflow.cuda, cudnn=cudnn), release.source),)
                if release
                else ()
            ),
        ),
        fixes=(
            remedies.by_hand(
                _("Install the CUDA {cuda} toolkit and cuDNN {cudnn}").format(cuda=tensorflow.cuda, cudnn=cudnn),
                note=_("The driver stays as it is."),
            ),
        ),
    )
