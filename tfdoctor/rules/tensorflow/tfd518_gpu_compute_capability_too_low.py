"""TFD518 gpu-compute-capability-too-low."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._arch import Fit, fit, lowest, pair, readable
from tfdoctor.rules.tensorflow._unlisted import all_told, capabilities, named, of_kind, only
from tfdoctor.tables import Tables

#: No TensorFlow 2 wheel holds code below this one (compat/tensorflow.json, 2.3 to 2.14: sm_35).
LOWEST_EVER = "3.5"


@rule("TFD518", Severity.ERROR, blocks=True)
def gpu_compute_capability_too_low(machine: GpuMachine, tensorflow: TensorFlow, gpus: Gpus, tables: Tables) -> Found:
    """The GPU is older than everything this TensorFlow was built for, so TensorFlow leaves it out.

    ## What it is
    TensorFlow holds GPU code for certain compute capabilities and ignores a GPU below the lowest of them. No TensorFlow 2
    supports anything below 3.5. The lowest of the official wheels rises: 3.5 up to 2.14, 5.0 in 2.15 and 2.16, 6.0
    from 2.17 on. NVIDIA's libraries and drivers drop old GPUs too.

    ## How it shows
    `Ignoring visible gpu device (device: 0, name: GeForce GTX 780M, pci bus id: …, compute capability: 3.0) with Cuda compute
    capability 3.0. The minimum required Cuda capability is 3.5.`, then no GPU is listed

    ## How to be sure
    `nvidia-smi --query-gpu=name,compute_cap --format=csv` against `cuda_compute_capabilities` of
    `tf.sysconfig.get_build_info()`.

    ## What to do
    - An older TensorFlow that still has it, with its CUDA: 2.14 for 3.5 to 3.7, 2.16 for 5.0 and 5.2. Its Python, driver branch
      and CUDA are older as well; an environment or image of its own is the way.
    - Build TensorFlow from source with this capability in the list, as far as CUDA and cuDNN still support it.
    - Another GPU. A second, newer GPU in the machine is used all the same.
    - Linux, WSL2, Windows, Docker, Kubernetes, Slurm: the same everywhere; on a cluster ask for a newer GPU type.
    - macOS: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/46653
    - https://developer.nvidia.com/cuda-gpus
    """
    low = tuple(gpu for gpu in gpus if gpu.compute_capability and pair(gpu.compute_capability) < pair(LOWEST_EVER))
    listed = readable(tensorflow.compute_capabilities) if low else capabilities(tensorflow, gpus, tables)
    below = tuple(gpu for gpu in of_kind(Fit.BELOW, gpus, listed) if not _official_has(gpu, tensorflow, tables))
    hit = tuple(dict.fromkeys(low + below)) if tensorflow.cuda_build is not False else ()
    if not hit:
        if tensorflow.cuda_build is not False:
            all_told(gpus)
        return None
    need = lowest(listed) if listed else LOWEST_EVER
    return Diagnosis(
        _("TensorFlow {version} needs compute capability {need} or newer, and {gpus}.").format(
            version=tensorflow.version, need=need, gpus=named(hit)
        ),
        evidence=(
            Evidence(_("compute capability {capability}").format(capability=hit[0].compute_capability), gpus.source),
            Evidence(_("built for {listed}").format(listed=" ".join(listed) or f">= {LOWEST_EVER}"), tensorflow.source),
        ),
        fixes=(_fix(hit[0], tables),),
        # An old card that only drives a screen beside usable ones is nothing to repair.
        severity=Severity.INFO if only(hit, gpus) and all(gpu.display for gpu in hit) else None,
        gpus=only(hit, gpus),
    )


def _official_has(gpu: Gpu, tensorflow: TensorFlow, tables: Tables) -> bool:
    """The official wheel of this release runs this GPU: then this build is the fault (gpu-arch-not-in-build-old)."""
    release = tables.release(tensorflow.version)
    if release is None or not readable(release.compute_capabilities):
        return False
    return fit(gpu.compute_capability or "", release.compute_capabilities) in (Fit.BINARY, Fit.PTX)


def _fix(gpu: Gpu, tables: Tables) -> Fix:
    """The newest release whose official wheel runs this GPU."""
    for release in tables.releases():
        if readable(release.compute_capabilities) and fit(
            gpu.compute_capability or "", release.compute_capabilities
        ) in (Fit.BINARY, Fit.PTX):
            title = _(
                "Use TensorFlow {version} (CUDA {cuda}, cuDNN {cudnn}), the last with code for {gpu}, or another GPU"
            )
            return remedies.by_hand(
                title.format(version=release.version, cuda=release.cuda, cudnn=release.cudnn, gpu=gpu.label)
            )
    return remedies.by_hand(
        _("Use another GPU: no TensorFlow 2 has code for compute capability {capability}").format(
            capability=gpu.compute_capability
        )
    )
