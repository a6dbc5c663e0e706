"""TFD301 cuda-extra-not-installed."""

from __future__ import annotations

from typing import Optional

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.probes.toolkits import Toolkits
from tfdoctor.rules.libraries._fixes import install_extra
from tfdoctor.rules.libraries._which import Situation
from tfdoctor.tables import Tables


@rule("TFD301", Severity.ERROR, blocks=True)
def cuda_extra_not_installed(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    libraries: Libraries,
    tables: Tables,
    distributions: Optional[Distributions],
    toolkits: Optional[Toolkits],
    interpreter: Optional[Interpreter],
    gpus: Optional[Gpus],
) -> Found:
    """TensorFlow was installed without its CUDA libraries, and no others are on this machine.

    ## What it is
    The GPU build of TensorFlow does not contain CUDA and cuDNN: it opens them when it starts. `pip install tensorflow`
    brings only TensorFlow; from 2.14 on `pip install 'tensorflow[and-cuda]'` brings the NVIDIA libraries as packages too.
    Here none of the libraries of the CUDA major version that this build asks for exists anywhere.

    ## How it shows
    - `Could not find cuda drivers on your machine, GPU will not be used.` although `nvidia-smi` works: the words blame
      the driver, what is missing is `libcudart`.
    - `Cannot dlopen some GPU libraries. … Skipping registering GPU devices...`
    - `tf.config.list_physical_devices('GPU')` is `[]`.

    ## How to be sure
    `python -m pip list` shows no `nvidia-cudnn-cu12` and its siblings, and no toolkit of that major is below
    `/usr/local/cuda*`, in the conda environment or in `ldconfig -p`.

    ## What to do
    - Linux, WSL2: `python -m pip install 'tensorflow[and-cuda]==VERSION'` with the version that is installed. Quote the
      brackets; the download is 1 to 3 GB. The driver and a system CUDA stay as they are.
    - GPUs below compute capability 7.5 with 2.20 or 2.21: add `'nvidia-cudnn-cu12<9.11'`.
    - Docker, Kubernetes: do it in the image, or use an image that holds CUDA.
    - Slurm: load the site's CUDA and cuDNN modules of that major, or install the extra in your environment.
    - Windows: see windows-native-gpu-dropped and cuda-toolkit-missing. macOS: there is no CUDA.

    ## References
    - https://www.tensorflow.org/install/pip
    - https://www.tensorflow.org/install/source#gpu
    """
    situation = Situation(tensorflow, libraries, tables, toolkits=toolkits, distributions=distributions)
    fault = situation.fault("cuda-extra-not-installed")
    if fault is None:
        return None
    return Diagnosis(
        _(
            "TensorFlow {version} needs the CUDA {cuda} libraries ({names}), and none of them is on this machine."
        ).format(version=tensorflow.version, cuda=tensorflow.cuda or "?", names=fault.names),
        evidence=(
            Evidence(_("no copy of {names}").format(names=fault.names), libraries.source),
            Evidence(
                _("TensorFlow {version} was built for CUDA {cuda}").format(
                    version=tensorflow.version, cuda=tensorflow.cuda or "?"
                ),
                tensorflow.source,
            ),
        ),
        fixes=(install_extra(interpreter, tensorflow, tables, gpus),),
    )
