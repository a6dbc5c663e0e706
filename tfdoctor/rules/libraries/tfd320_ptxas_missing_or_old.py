"""TFD320 ptxas-missing-or-old."""

from __future__ import annotations

from typing import Optional

from packaging.version import Version

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.probes.toolkits import XlaTools
from tfdoctor.rules.tensorflow._requirements import parsed
from tfdoctor.tables import Tables


@rule("TFD320", Severity.WARNING, caused_by=("TFD301", "TFD308"))
def ptxas_missing_or_old(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    tools: XlaTools,
    tables: Tables,
    platform: Optional[Platform],
    gpus: Optional[Gpus],
    interpreter: Optional[Interpreter],
) -> Found:
    """XLA finds no ptxas, or one that does not know this GPU.

    ## What it is
    XLA compiles kernels with `ptxas`. It is part of the CUDA compiler package, not of the runtime: runtime images and conda's
    `cudatoolkit` lack it. A ptxas older than the GPU cannot make code for it. Without a usable one XLA lets the driver compile,
    which is slower and in some releases fails. Keras 3 compiles models with XLA by itself, so it matters without
    `jit_compile` too.

    ## How it shows
    - `Failed to launch ptxas`, `Couldn't invoke ptxas --version`, `Relying on driver to perform ptx compilation`
    - `ptxas fatal : Value 'sm_120' is not defined for option 'gpu-name'`
    - On native Windows `ptxas … not supported` is harmless.

    ## How to be sure
    `ptxas --version`; `TF_CPP_VMODULE=asm_compiler=2` shows which one XLA takes and where it looked.

    ## What to do
    - Linux, WSL2 with pip: `tensorflow[and-cuda]` brings `nvidia-cuda-nvcc-cu12`; install that package if it is missing.
    - conda: `conda install -c nvidia cuda-nvcc` of the CUDA version that TensorFlow was built for.
    - Own toolkit: its `bin` on PATH, or `XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda-X.Y` (the root, not `bin`).
    - Docker, Kubernetes: the `devel` image in place of `runtime`. Slurm: the full CUDA module.
    - macOS: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/60737
    - https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/
    """
    if platform is not None and platform.system == "windows":
        return None
    if not tensorflow.cuda_build:
        return None
    if not tools.ptxas:
        return Diagnosis(
            _(
                "XLA finds no ptxas for TensorFlow {version} (CUDA {cuda}): it will let the driver compile, or fail."
            ).format(version=tensorflow.version, cuda=tensorflow.cuda or "?"),
            evidence=(Evidence(_("no ptxas where XLA looks"), tools.source),),
            fixes=(_fix(tensorflow, interpreter),),
        )
    return _old(tensorflow, tools, tables, gpus, interpreter)


def _old(
    tensorflow: TensorFlow,
    tools: XlaTools,
    tables: Tables,
    gpus: Optional[Gpus],
    interpreter: Optional[Interpreter],
) -> Optional[Diagnosis]:
    """The first GPU that came out after this ptxas."""
    have = parsed(tools.ptxas_version or "")
    if have is None:
        return None
    for gpu in gpus or ():
        row = tables.compute_capability(gpu.compute_capability) if gpu.compute_capability else None
        if row is not None and have < Version(row.first_cuda):
            return Diagnosis(
                _(
                    "XLA would run ptxas {have}, and {gpu} with compute capability {capability} needs {need} or newer."
                ).format(
                    have=tools.ptxas_version, gpu=gpu.label, capability=gpu.compute_capability, need=row.first_cuda
                ),
                evidence=(
                    Evidence(_("ptxas {version}").format(version=tools.ptxas_version), tools.ptxas),
                    Evidence(
                        _("compute capability {capability} since CUDA {cuda}").format(
                            capability=gpu.compute_capability, cuda=row.first_cuda
                        ),
                        row.source,
                    ),
                ),
                fixes=(_fix(tensorflow, interpreter),),
            )
    return None


def _fix(tensorflow: TensorFlow, interpreter: Optional[Interpreter]) -> Fix:
    if tensorflow.cuda.startswith("12"):
        return remedies.install(interpreter, "nvidia-cuda-nvcc-cu12")
    return remedies.by_hand(
        _("Install the compiler package (cuda-nvcc) of CUDA {cuda}").format(cuda=tensorflow.cuda or "?")
    )
