"""TFD304 cuda-13-only."""

from __future__ import annotations

from typing import Optional

from tfdoctor.engine import rule
from tfdoctor.model import Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.probes.toolkits import Toolkits
from tfdoctor.rules.libraries._fixes import install_extra
from tfdoctor.rules.libraries._majors import of_another_major, only_other_majors
from tfdoctor.rules.libraries._which import Situation
from tfdoctor.tables import Tables


@rule("TFD304", Severity.ERROR, blocks=True)
def cuda_13_only(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    tables: Tables,
    libraries: Optional[Libraries],
    toolkits: Optional[Toolkits],
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
    gpus: Optional[Gpus],
) -> Found:
    """Only CUDA 13 libraries are on this machine, and this TensorFlow was built for an older CUDA.

    ## What it is
    A library of another CUDA major has another name: TensorFlow 2.15 to 2.21 opens `libcudart.so.12`, CUDA 13 brings
    `libcudart.so.13`. No official TensorFlow is built for CUDA 13; `tensorflow-cuda13` on the index is an empty package.
    A driver for CUDA 13 is fine: drivers run everything older.

    ## How it shows
    - `Could not find cuda drivers on your machine, GPU will not be used.` although `nvidia-smi` shows CUDA 13.x
    - `Could not load dynamic library 'libcudart.so.12'`, `Cannot dlopen some GPU libraries`

    ## How to be sure
    `ls -d /usr/local/cuda*` and `python -m pip list | grep nvidia` show only 13; "CUDA Version: 13.x" of `nvidia-smi` is
    what the driver supports and says nothing about installed libraries.

    ## What to do
    - Linux, WSL2: `python -m pip install 'tensorflow[and-cuda]==VERSION'`: CUDA 12 comes as pip packages beside the
      system's CUDA 13, which stays as it is.
    - If PyTorch for CUDA 13 shares the environment, give each its own: both write into `site-packages/nvidia`.
    - Docker, Kubernetes: a CUDA 12 base image, or the extra in the image. Slurm: load a CUDA 12 module.
    - Do not downgrade the driver, and do not link one soname to the other.

    ## References
    - https://www.tensorflow.org/install/source#gpu
    - https://docs.nvidia.com/deploy/cuda-compatibility/
    """
    if libraries is None:
        seen = only_other_majors(tensorflow, toolkits, distributions)
        newer = seen is not None and min(seen.majors) >= 13
        return (
            seen.unsure(tensorflow, (install_extra(interpreter, tensorflow, tables, gpus),)) if seen and newer else None
        )
    situation = Situation(tensorflow, libraries, tables, toolkits=toolkits, distributions=distributions)
    return of_another_major(situation, "cuda-13-only", install_extra(interpreter, tensorflow, tables, gpus))
