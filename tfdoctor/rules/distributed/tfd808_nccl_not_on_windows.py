"""TFD808 nccl-not-on-windows."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlow


@rule("TFD808", Severity.WARNING)
def nccl_not_on_windows(machine: GpuMachine, platform: Platform, gpus: Gpus, tensorflow: TensorFlow) -> Found:
    """TensorFlow for Windows has no NCCL, which MirroredStrategy uses by default for several GPUs.

    ## What it is
    NCCL exists for Linux. TensorFlow's Windows builds (up to 2.10 with GPU) are made without it, and `MirroredStrategy` over two GPUs fails at
    its first AllReduce unless another method is named.

    ## How it shows
    - `No OpKernel was registered to support Op 'NcclAllReduce' used by node …`

    ## How to be sure
    Windows without WSL, two GPUs or more, `MirroredStrategy()` without `cross_device_ops`.

    ## What to do
    - Windows: `tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())`.
    - Better: WSL2 or Linux, where NCCL works and TensorFlow is current.
    - Linux, Docker, Kubernetes, Slurm: does not arise.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/distribute/HierarchicalCopyAllReduce
    - https://github.com/tensorflow/tensorflow/issues/33656
    """
    if platform.system != "windows" or len(gpus) < 2 or not tensorflow.cuda_build:
        return None
    message = _(
        "TensorFlow {version} for Windows has no NCCL, and there are {count} GPUs: MirroredStrategy needs another method."
    ).format(version=tensorflow.version, count=len(gpus))
    evidence = (
        Evidence(_("Windows"), platform.source),
        Evidence(_("{count} GPUs").format(count=len(gpus)), gpus.source),
    )
    fix = remedies.by_hand(_("MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce()), or WSL2"))
    return Diagnosis(message, evidence, (fix,))
