"""TFD519 gpu-arch-not-in-build-old."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._arch import Fit, fit, highest, pair, readable
from tfdoctor.rules.tensorflow._unlisted import all_told, capabilities, named, of_kind, only
from tfdoctor.tables import Tables


@rule("TFD519", Severity.ERROR, caused_by=("TFD518",), blocks=True)
def gpu_arch_not_in_build_old(
    machine: GpuMachine, tensorflow: TensorFlow, gpus: Gpus, tables: Tables, interpreter: Optional[Interpreter]
) -> Found:
    """This build has no code for the GPU, although other builds of TensorFlow have.

    ## What it is
    A build holds machine code for a list of compute capabilities, and machine code runs only on the same major version with
    an equal or higher minor one. TensorFlow 2.3 left out 5.0 (it has 3.5, 3.7, 5.2, 6.0, 6.1 and PTX for 7.0); images and wheels
    that were built for one kind of GPU leave out all others. The GPU is not too old for TensorFlow: another build runs it.

    ## How it shows
    - `no kernel image is available for execution on the device`, `device kernel image is invalid` (which reads like a
      corrupt installation)
    - `Ignoring visible gpu device … The minimum required Cuda capability is 7.0` from a build for one GPU type

    ## How to be sure
    `nvidia-smi --query-gpu=name,compute_cap --format=csv` against `cuda_compute_capabilities` of
    `tf.sysconfig.get_build_info()`. Reinstalling CUDA or the driver changes nothing.

    ## What to do
    - Linux, WSL2, Windows: the official wheel in place of the special build; with 5.0 and TensorFlow 2.3, take 2.2 or 2.4.
    - Docker, Kubernetes: an image that was built for this GPU, or the official one.
    - Slurm, clusters: the site's build may be for its other GPUs; ask for that node type, or install the official wheel.
    - Build from source with this capability in the list. macOS: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/41892
    - https://github.com/tensorflow/tensorflow/issues/42052
    - https://github.com/tensorflow/tensorflow/issues/23385
    """
    listed = capabilities(tensorflow, gpus, tables)
    if tensorflow.cuda_build is False:
        return None
    if not listed:
        all_told(gpus)
        return None
    gap = tuple(
        gpu for gpu in of_kind(Fit.GAP, gpus, listed) if pair(gpu.compute_capability or "0.0") < pair(highest(listed))
    )
    below = tuple(gpu for gpu in of_kind(Fit.BELOW, gpus, listed) if _official(gpu, tensorflow, tables))
    hit = gap + below
    if not hit:
        all_told(gpus)
        return None
    return Diagnosis(
        _("This TensorFlow {version} has code for {listed} only, and {gpus}.").format(
            version=tensorflow.version, listed=" ".join(listed), gpus=named(hit)
        ),
        evidence=(
            Evidence(_("built for {listed}").format(listed=" ".join(listed)), tensorflow.source),
            Evidence(_("compute capability {capability}").format(capability=hit[0].compute_capability), gpus.source),
        ),
        fixes=(_fix(hit[0], tensorflow, tables, interpreter),),
        gpus=only(hit, gpus),
    )


def _official(gpu: Gpu, tensorflow: TensorFlow, tables: Tables) -> bool:
    release = tables.release(tensorflow.version)
    return release is not None and _runs(gpu, release.compute_capabilities)


def _runs(gpu: Gpu, listed: tuple[str, ...]) -> bool:
    return bool(readable(listed)) and fit(gpu.compute_capability or "", listed) in (Fit.BINARY, Fit.PTX)


def _fix(gpu: Gpu, tensorflow: TensorFlow, tables: Tables, interpreter: Optional[Interpreter]) -> Fix:
    if _official(gpu, tensorflow, tables):
        release = tables.release(tensorflow.version)
        return remedies.reinstall(interpreter, f"tensorflow=={release.version if release else tensorflow.version}")
    good = next(
        (
            row
            for row in reversed(tables.releases())
            if _runs(gpu, row.compute_capabilities) and _newer(row.version, tensorflow)
        ),
        None,
    )
    if good is None:
        return remedies.by_hand(
            _("Use a build that was made for compute capability {capability}").format(capability=gpu.compute_capability)
        )
    return remedies.by_hand(
        _("Use TensorFlow {version} or newer, whose wheel has code for {gpu}").format(
            version=good.version, gpu=gpu.label
        )
    )


def _newer(version: str, tensorflow: TensorFlow) -> bool:
    return [int(part) for part in version.split(".")[:2]] > [int(part) for part in tensorflow.version.split(".")[:2]]
