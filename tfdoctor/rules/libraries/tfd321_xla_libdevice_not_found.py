"""TFD321 xla-libdevice-not-found."""

from __future__ import annotations

import re
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.probes.toolkits import XlaTools


@rule("TFD321", Severity.WARNING, caused_by=("TFD301", "TFD308"))
def xla_libdevice_not_found(
    machine: GpuMachine, tensorflow: TensorFlow, tools: XlaTools, interpreter: Optional[Interpreter]
) -> Found:
    """XLA does not find libdevice, NVIDIA's library of mathematical functions for kernels.

    ## What it is
    Kernels that XLA makes and that use `exp`, `sin`, `pow` and the like are linked with `libdevice.10.bc`. XLA looks for it as
    `nvvm/libdevice/libdevice.10.bc` below a few CUDA roots. conda's `cudatoolkit` has no such layout, runtime images do not
    hold the file, and a path given to XLA must be the root above `nvvm`.

    ## How it shows
    - `Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice`, `libdevice not found at ./libdevice.10.bc`
    - With Keras in TensorFlow 2.11 and newer it ends training: optimizers and models are compiled with XLA.

    ## How to be sure
    `find / -name libdevice.10.bc 2>/dev/null`; the log lists the folders that were searched.

    ## What to do
    - pip: `python -m pip install nvidia-cuda-nvcc-cu12` (part of `tensorflow[and-cuda]` from 2.14 on).
    - The file exists elsewhere: `XLA_FLAGS=--xla_gpu_cuda_data_dir=ROOT`, where `ROOT/nvvm/libdevice/libdevice.10.bc` exists.
    - conda: install `cuda-nvcc`; then `ROOT` is `$CONDA_PREFIX`, or `$CONDA_PREFIX/targets/x86_64-linux`.
    - Docker, Kubernetes: the `devel` image, or that package in the image. Slurm: the full CUDA module.
    - WSL2: as Linux. Windows: `ROOT` is `%CUDA_PATH%`. macOS: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/58681
    - https://github.com/conda-forge/tensorflow-feedstock/issues/420
    """
    if tools.libdevice or not tensorflow.cuda_build:
        return None
    fixes = [remedies.install(interpreter, "nvidia-cuda-nvcc-cu12")] if tensorflow.cuda.startswith("12") else []
    roots = [root for root in map(_root, tools.libdevice_elsewhere) if root]
    if roots:
        fixes.insert(0, remedies.variable("XLA_FLAGS", f"--xla_gpu_cuda_data_dir={roots[0]}"))
    if not fixes:
        fixes = [
            remedies.by_hand(_("Install the compiler package (cuda-nvcc) of CUDA {cuda}").format(cuda=tensorflow.cuda))
        ]
    where = ", ".join(tools.libdevice_elsewhere) or _("nowhere on this machine")
    return Diagnosis(
        _("XLA of TensorFlow {version} does not find libdevice.10.bc; it is here: {where}.").format(
            version=tensorflow.version, where=where
        ),
        evidence=(Evidence(_("no libdevice where XLA looks"), tools.source),),
        fixes=tuple(fixes),
    )


def _root(path: str) -> str:
    """The folder above nvvm/libdevice, "" when the file lies in another layout (then XLA cannot be pointed at it)."""
    found = re.match(r"(.+)/nvvm/libdevice/libdevice[^/]*$", path)
    return found.group(1) if found else ""
