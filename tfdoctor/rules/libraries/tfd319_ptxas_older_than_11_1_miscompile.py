"""TFD319 ptxas-older-than-11.1-miscompile."""

from __future__ import annotations

from typing import Optional

from packaging.version import Version

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.probes.toolkits import XlaTools
from tfdoctor.rules.tensorflow._requirements import parsed

#: XLA itself warns about every ptxas below this one. https://github.com/jax-ml/jax/issues/7816
FIRST_GOOD = Version("11.1")


@rule("TFD319", Severity.WARNING, name="ptxas-older-than-11.1-miscompile")
def ptxas_older_than_11_1_miscompile(
    machine: GpuMachine, tensorflow: TensorFlow, tools: XlaTools, interpreter: Optional[Interpreter]
) -> Found:
    """The ptxas that XLA would run is older than 11.1, and such versions are known to compile XLA's code wrongly.

    ## What it is
    XLA hands its kernels to `ptxas`, NVIDIA's assembler, which it takes from PATH or a CUDA folder. Versions before 11.1
    translate some of XLA's kernels wrongly. The program then reads or writes outside of its memory, or computes wrong
    numbers. It concerns what XLA compiles: `jit_compile=True`, Keras models that compile themselves, JAX.

    ## How it shows
    - `*** WARNING *** You are using ptxas 10.1.243, which is older than 11.1. ptxas before 11.1 is known to miscompile XLA code`
    - `CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered` in a program that is sound, results that differ
      with and without XLA

    ## How to be sure
    `ptxas --version` of the one that is first on PATH; `TF_CPP_VMODULE=asm_compiler=2` shows which one XLA takes.

    ## What to do
    - Linux, WSL2: a newer ptxas first on PATH. The binary of a newer CUDA 11 or 12 is enough; `nvidia-cuda-nvcc-cu12`
      brings one as a pip package. Nothing else of the toolkit needs to change.
    - Until then: do not use `jit_compile=True`, and unset `TF_XLA_FLAGS=--tf_xla_auto_jit=…`.
    - Docker, Kubernetes: a base image with a newer toolkit. Slurm: a newer CUDA module.
    - Windows: a newer toolkit's `bin` first on PATH. macOS: does not arise.

    ## References
    - https://github.com/jax-ml/jax/issues/7816
    """
    have = parsed(tools.ptxas_version or "")
    if not tools.ptxas or have is None or have >= FIRST_GOOD:
        return None
    return Diagnosis(
        _("XLA would run ptxas {have} ({path}); versions before {need} compile some of XLA's code wrongly.").format(
            have=tools.ptxas_version, path=tools.ptxas, need=FIRST_GOOD
        ),
        evidence=(Evidence(_("ptxas {version}").format(version=tools.ptxas_version), tools.ptxas),),
        fixes=(
            remedies.install(interpreter, "nvidia-cuda-nvcc-cu12", note=_("Then put its bin folder first on PATH.")),
        ),
    )
