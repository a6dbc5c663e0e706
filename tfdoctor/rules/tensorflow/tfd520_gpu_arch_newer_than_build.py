"""TFD520 gpu-arch-newer-than-build."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._arch import Fit, highest, pair
from tfdoctor.rules.tensorflow._unlisted import capabilities, named, of_kind, only
from tfdoctor.tables import Tables


@rule("TFD520", Severity.ERROR, blocks=True)
def gpu_arch_newer_than_build(machine: GpuMachine, tensorflow: TensorFlow, gpus: Gpus, tables: Tables) -> Found:
    """The GPU is newer than this build, and the build holds no PTX that the driver could compile for it.

    ## What it is
    A GPU that came out after a build can still run it when the build holds PTX, an intermediate code that the driver compiles
    at first use. Official wheels hold PTX. Builds with machine code alone do not, and then no kernel runs. There is a second
    form: the driver can compile the PTX in the wheel, and code that TensorFlow makes while it runs (by MLIR or XLA) is for
    the older kind; such failures are known with compute capability 12.0 (RTX 50) and wheels up to 2.20, and only a log
    shows them.

    ## How it shows
    - `no kernel image is available for execution on the device`
    - `'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'`, then `CUDA_ERROR_INVALID_HANDLE`
    - `LLVM ERROR: PTX version 8.5 does not support target 'sm_120'. Minimum required PTX version is 8.7`

    ## How to be sure
    The GPU's compute capability is above every entry of `cuda_compute_capabilities` in `tf.sysconfig.get_build_info()`, no
    entry is `compute_NN`, or a line like those above appears. Other programs work on the same GPU.

    ## What to do
    - Linux, WSL2, Docker, Kubernetes: NVIDIA's TensorFlow image of 25.02 or newer for RTX 50.
    - Or build TensorFlow from source with CUDA 12.8 or newer for this capability; or a newer release once there is one.
    - For failures in generated code alone: do not use `jit_compile=True`, unset TF_XLA_FLAGS, and try again.
    - A newer driver or ptxas alone does not help. Slurm: an older GPU type, or that image.
    - Windows native, macOS: no newer build exists.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/99592
    - https://github.com/tensorflow/tensorflow/issues/111958
    - https://catalog.ngc.nvidia.com/orgs/nvidia/containers/tensorflow
    """
    listed = capabilities(tensorflow, gpus, tables)
    if not listed or tensorflow.cuda_build is False:
        return None
    hit = tuple(gpu for gpu in of_kind(Fit.GAP, gpus, listed) if pair(gpu.compute_capability or "0.0") > pair(highest(listed)))
    if not hit:
        return None
    return Diagnosis(
        _("This TensorFlow {version} has machine code up to {highest} and no PTX, and {gpus}: no kernel can run.").format(
            version=tensorflow.version, highest=highest(listed), gpus=named(hit)),
        evidence=(
            Evidence(_("built for {listed}").format(listed=" ".join(listed)), tensorflow.source),
            Evidence(_("compute capability {capability}").format(capability=hit[0].compute_capability), gpus.source),
        ),
        fixes=(
            remedies.by_hand(_("Use NVIDIA's TensorFlow image, or a build made for compute capability {capability}").format(
                capability=hit[0].compute_capability)),
        ),
        gpus=only(hit, gpus),
    )
