"""TFD520 gpu-arch-newer-than-build."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._arch import Fit, highest, pair
from tfdoctor.rules.tensorflow._unlisted import all_told, capabilities, named, of_kind, only, unknown_to_toolkit
from tfdoctor.tables import Tables

#: Reports of listed RTX 50 GPUs on which nothing runs; 101746 and 90291 tell the same.
REPORTS = "https://github.com/tensorflow/tensorflow/issues/99592"


@rule("TFD520", Severity.ERROR, blocks=True)
def gpu_arch_newer_than_build(machine: GpuMachine, tensorflow: TensorFlow, gpus: Gpus, tables: Tables) -> Found:
    """The GPU is newer than this build, which has no code for it, or only PTX of which a part fails.

    ## What it is
    A GPU that came out after a build can still run it when the build holds PTX, an intermediate code that the driver compiles
    at first use. Official wheels hold PTX. Builds with machine code alone do not, and then no kernel runs. There is a second
    form: the driver can compile the PTX in the wheel, and code that TensorFlow makes while it runs (by MLIR or XLA), or one
    of CUDA's libraries, is for older kinds. Compute capability 10.0 and 12.0 (B200, RTX 50) came with CUDA 12.8; the
    wheels of 2.16 to 2.21 were built with CUDA 12.3 to 12.5, and with them people report that the GPU is listed and the
    first operation fails. Some programs run, so in this form it is a warning and the verdict stays open.

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
    - https://github.com/tensorflow/tensorflow/issues/101746
    - https://github.com/tensorflow/tensorflow/issues/90291
    - https://github.com/tensorflow/tensorflow/issues/111958
    - https://catalog.ngc.nvidia.com/orgs/nvidia/containers/tensorflow
    """
    if tensorflow.cuda_build is False:
        return None
    all_told(gpus)
    listed = capabilities(tensorflow, gpus, tables)
    ahead = of_kind(Fit.GAP, gpus, listed)
    hit = tuple(gpu for gpu in ahead if pair(gpu.compute_capability or "0.0") > pair(highest(listed)))
    if not hit:
        return _only_ptx(tensorflow, gpus, tables)
    return Diagnosis(
        _(
            "This TensorFlow {version} has machine code up to {highest} and no PTX, and {gpus}: no kernel can run."
        ).format(version=tensorflow.version, highest=highest(listed), gpus=named(hit)),
        evidence=(
            Evidence(_("built for {listed}").format(listed=" ".join(listed)), tensorflow.source),
            Evidence(_("compute capability {capability}").format(capability=hit[0].compute_capability), gpus.source),
        ),
        fixes=(_fix(hit[0]),),
        gpus=only(hit, gpus),
    )


def _only_ptx(tensorflow: TensorFlow, gpus: Gpus, tables: Tables) -> Found:
    """PTX there is, and the GPU is newer than the CUDA of the build: some programs run, many fail at the first kernel."""
    hit = unknown_to_toolkit(tensorflow, gpus, tables)
    if not hit:
        return None
    row = tables.compute_capability(hit[0].compute_capability or "")
    knows = (
        _("CUDA {first} is the first that knows it").format(first=row.first_cuda)
        if row
        else _("no CUDA in the tables knows it")
    )
    return Diagnosis(
        _(
            "TensorFlow {version} was built with CUDA {cuda}, which is older than {gpus} ({knows}): the GPU is listed, and "
            "operations on it may fail with CUDA_ERROR_INVALID_PTX or CUDA_ERROR_INVALID_HANDLE."
        ).format(version=tensorflow.version, cuda=tensorflow.cuda, gpus=named(hit), knows=knows),
        evidence=(
            Evidence(_("built with CUDA {cuda}").format(cuda=tensorflow.cuda), tensorflow.source),
            Evidence(_("compute capability {capability}").format(capability=hit[0].compute_capability), gpus.source),
            Evidence(_("the first operation fails with 2.16 to 2.20"), REPORTS),
        ),
        fixes=(_fix(hit[0]),),
        severity=Severity.WARNING,
        gpus=only(hit, gpus),
    )


def _fix(gpu: Gpu) -> Fix:
    title = _("Use NVIDIA's TensorFlow image, or a build made for compute capability {capability}")
    return remedies.by_hand(title.format(capability=gpu.compute_capability))
