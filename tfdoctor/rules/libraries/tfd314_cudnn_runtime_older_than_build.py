"""TFD314 cudnn-runtime-older-than-build."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._cudnn import Cudnn, built_with, cuda_of, loaded, too_old
from tfdoctor.tables import Tables


@rule("TFD314", Severity.ERROR, caused_by=("TFD313",))
def cudnn_runtime_older_than_build(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    tables: Tables,
    libraries: Optional[Libraries],
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
) -> Found:
    """The cuDNN that TensorFlow loads is older than the one it was built with.

    ## What it is
    cuDNN must have the same major version as at build time and at least the same minor version. TensorFlow checks that
    when it first needs cuDNN and then works without it, so every convolution and recurrent layer on the GPU fails.
    Other packages that pin an older `nvidia-cudnn-cu12`, PyTorch for one, are the usual reason.

    ## How it shows
    - `Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0. CuDNN library needs to have matching major
      version and equal or higher minor version.`
    - The GPU is listed; then `DNN library is not found` or `No DNN in stream executor`.

    ## How to be sure
    The line above states both versions. Without a run: `python -m pip show nvidia-cudnn-cu12` or `cudnn_version.h`
    beside the library, against `cudnn_version` in `tf.sysconfig.get_build_info()` and the table of tested builds.

    ## What to do
    - Linux, WSL2 with pip: raise `nvidia-cudnn-cu12` to what TensorFlow asks for; if PyTorch pins it, use two environments.
    - conda: raise `cudnn` inside the environment; a copy under `/usr/local` is not the one in use.
    - System package: raise `libcudnn8` or `cudnn9-cuda-12`.
    - Docker, Kubernetes: in the image. Slurm: load the newer cuDNN module.
    - Windows: put the newer cuDNN DLLs on PATH. macOS: there is no cuDNN.

    ## References
    - https://github.com/edwardyehuang/CAR/issues/1
    - https://www.tensorflow.org/install/source#gpu
    """
    have = loaded(tensorflow, libraries, distributions, tables)
    needed = built_with(tensorflow, tables)
    if have is None or not too_old(have.version, needed):
        return None
    release = tables.release(tensorflow.version)
    source = release.source if release else tensorflow.source
    return Diagnosis(
        _(
            "TensorFlow {version} was built with cuDNN {needed} and will refuse cuDNN {have}, which it loads from {path}."
        ).format(version=tensorflow.version, needed=needed, have=have.version, path=have.source),
        evidence=(
            Evidence(_("cuDNN {version}").format(version=have.version), have.source),
            Evidence(_("built with cuDNN {version}").format(version=needed), source),
        ),
        fixes=(_fix(tensorflow, tables, have, needed, interpreter),),
        severity=None if have.sure else Severity.WARNING,
    )


def _fix(tensorflow: TensorFlow, tables: Tables, have: Cudnn, needed: str, interpreter: Optional[Interpreter]) -> Fix:
    release = tables.release(tensorflow.version)
    wheel = f"nvidia-cudnn-cu{cuda_of(tensorflow, tables).split('.')[0]}"
    wanted = (release.and_cuda or {}).get(wheel) if release else None
    if wanted and (not have.sure or "site-packages/nvidia/" in have.source):
        return remedies.install(interpreter, f"{wheel}{wanted}")
    title = _("Raise the cuDNN in {path} to {needed} or newer of the same major")
    return remedies.by_hand(title.format(path=have.source, needed=needed))
