"""TFD305 cuda-major-mismatch."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Fix, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.probes.toolkits import Toolkits
from tfdoctor.rules.libraries._fixes import install_extra
from tfdoctor.rules.libraries._majors import of_another_major, only_other_majors
from tfdoctor.rules.libraries._which import FIRST_EXTRA, Situation
from tfdoctor.tables import Tables, fits


@rule("TFD305", Severity.ERROR, blocks=True)
def cuda_major_mismatch(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    tables: Tables,
    libraries: Optional[Libraries],
    toolkits: Optional[Toolkits],
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
    gpus: Optional[Gpus],
) -> Found:
    """The CUDA libraries on this machine are of another major version than this TensorFlow was built for.

    ## What it is
    TensorFlow opens libraries whose file names carry the CUDA major version: a build for CUDA 11 asks for `libcudart.so.11.0`,
    one for CUDA 12 for `libcudart.so.12`. Another major never satisfies it, whatever the driver. Official builds: CUDA 10.1
    for 2.1 to 2.3, 11.x for 2.4 to 2.14, 12.x from 2.15 on.

    ## How it shows
    - `Could not find cuda drivers on your machine, GPU will not be used.` although `nvidia-smi` works
    - `Could not load dynamic library 'libcudart.so.11.0'; dlerror: … No such file or directory`

    ## How to be sure
    Compare `cuda_version` of `tf.sysconfig.get_build_info()` with `ls /usr/local/cuda*/lib64/libcudart.so.*` and with the
    pip packages named `nvidia-cuda-runtime-cuNN`. "CUDA Version" in `nvidia-smi` is the driver's and does not count.

    ## What to do
    - Linux, WSL2, TensorFlow 2.14 and newer: `python -m pip install 'tensorflow[and-cuda]==VERSION'` puts the right CUDA
      beside the one that is there.
    - Older TensorFlow: install the toolkit of its CUDA (several can live side by side in `/usr/local/cuda-X.Y`), or a
      TensorFlow for the CUDA that is there.
    - Docker, Kubernetes: take a base image of the right major. Slurm: load the module of the right major.
    - Native Windows, TensorFlow 2.5 to 2.10: CUDA 11.2 with cuDNN 8.1.
    - Leave the driver alone, and do not link one major's file name to another's.

    ## References
    - https://www.tensorflow.org/install/source#gpu
    - https://github.com/tensorflow/tensorflow/issues/66750
    """
    if libraries is None:
        seen = only_other_majors(tensorflow, toolkits, distributions)
        older = seen is not None and min(seen.majors) < 13
        return seen.unsure(tensorflow, _fixes(tensorflow, tables, interpreter, gpus)) if seen and older else None
    situation = Situation(tensorflow, libraries, tables, toolkits=toolkits, distributions=distributions)
    return of_another_major(situation, "cuda-major-mismatch", *_fixes(tensorflow, tables, interpreter, gpus))


def _fixes(
    tensorflow: TensorFlow, tables: Tables, interpreter: Optional[Interpreter], gpus: Optional[Gpus]
) -> tuple[Fix, ...]:
    if fits(tensorflow.version, FIRST_EXTRA) and tensorflow.distribution in ("tensorflow", "tf-nightly"):
        return (install_extra(interpreter, tensorflow, tables, gpus),)
    title = _("Install the CUDA {cuda} toolkit beside the one that is there, or a TensorFlow built for that one")
    return (remedies.by_hand(title.format(cuda=tensorflow.cuda)),)
