"""TFD315 cudnn-dropped-this-gpu."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._cudnn import Cudnn, cuda_of, loaded
from tfdoctor.rules.libraries._fixes import OLD_GPU_CUDNN, below
from tfdoctor.rules.tensorflow._arch import Fit, fit
from tfdoctor.tables import Tables, fits
from tfdoctor.tables.cuda_rows import CudnnSupport


@rule("TFD315", Severity.ERROR)
def cudnn_dropped_this_gpu(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    gpus: Gpus,
    tables: Tables,
    libraries: Optional[Libraries],
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
) -> Found:
    """The cuDNN that TensorFlow loads has no code for this GPU, although TensorFlow has.

    ## What it is
    cuDNN drops old GPUs in the middle of a major version: the CUDA 12 builds from 9.11 on hold nothing below compute
    capability 7.5, so Volta (V100), Pascal (P100, GTX 10xx) and Maxwell are out. `tensorflow[and-cuda]` 2.20 and 2.21
    accept any cuDNN 9, so a fresh installation gets such a one, while TensorFlow itself still has code for 6.0 and 7.0.

    ## How it shows
    - The GPU is listed and simple operations work; the first convolution fails with `CUDNN_STATUS_ARCH_MISMATCH`,
      `CUDNN_STATUS_EXECUTION_FAILED` or `No DNN in stream executor`.

    ## How to be sure
    `python -m pip show nvidia-cudnn-cu12` (9.11 or newer) against `nvidia-smi --query-gpu=name,compute_cap --format=csv`
    (below 7.5).

    ## What to do
    - Linux, WSL2: `python -m pip install 'nvidia-cudnn-cu12<9.11'`, and the same line in requirements or constraints, or
      the next upgrade undoes it. 9.10.2 is the last that runs there.
    - TensorFlow 2.18 and 2.19 pin cuDNN 9.3 and need nothing.
    - Docker, Kubernetes: pin it in the image. Slurm: a cuDNN module older than 9.11 on nodes with old GPUs.
    - Windows, macOS: does not arise with official builds.

    ## References
    - https://docs.nvidia.com/deeplearning/cudnn/backend/v9.11.0/reference/support-matrix.html
    - https://github.com/immich-app/immich/pull/23110
    - https://github.com/Quansight/open-gpu-server/issues/69
    """
    have = loaded(tensorflow, libraries, distributions, tables)
    row = _row(tensorflow, have, tables)
    if have is None or row is None or row.min_compute_capability is None:
        return None
    limit = row.min_compute_capability
    hit = [
        gpu for gpu in gpus if below(gpu.compute_capability, limit) and _in_build(tensorflow, gpu.compute_capability)
    ]
    if not hit:
        return None
    return Diagnosis(
        _("cuDNN {have} has no code below compute capability {limit}, and {gpu} has {capability}.").format(
            have=have.version,
            limit=limit,
            gpu=", ".join(gpu.label for gpu in hit),
            capability=hit[0].compute_capability,
        ),
        evidence=(
            Evidence(_("cuDNN {version}").format(version=have.version), have.source),
            Evidence(
                _("cuDNN {versions} for CUDA {cuda}: compute capability {limit} and newer").format(
                    versions=row.versions, cuda=row.cuda_major, limit=limit
                ),
                row.source,
            ),
            Evidence(_("compute capability {capability}").format(capability=hit[0].compute_capability), gpus.source),
        ),
        fixes=(_fix(row, interpreter),),
        severity=None if row.solid else Severity.WARNING,
        gpus=() if len(hit) == len(gpus) else tuple(gpu.index for gpu in hit),
    )


def _row(tensorflow: TensorFlow, have: Optional[Cudnn], tables: Tables) -> Optional[CudnnSupport]:
    cuda = cuda_of(tensorflow, tables)
    return next(iter(tables.cudnn_support(have.version, cuda=cuda)), None) if have is not None and cuda else None


def _in_build(tensorflow: TensorFlow, capability: Optional[str]) -> bool:
    """TensorFlow has code for this GPU; where it has not, that is the fault and another rule names it."""
    if capability is None or not tensorflow.compute_capabilities:
        return capability is not None
    return fit(capability, tensorflow.compute_capabilities) in (Fit.BINARY, Fit.PTX)


def _fix(row: CudnnSupport, interpreter: Optional[Interpreter]) -> Fix:
    if row.cuda_major == "12" and fits("9.11", row.versions):
        return remedies.install(
            interpreter, OLD_GPU_CUDNN, title=_("Hold cuDNN below 9.11, the last that runs on this GPU")
        )
    return remedies.by_hand(_("Install an older cuDNN that supports this GPU, or use another GPU"))
