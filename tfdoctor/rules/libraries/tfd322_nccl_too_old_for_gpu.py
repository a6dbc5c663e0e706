"""TFD322 nccl-too-old-for-gpu."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, NotApplicable, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._nccl import in_use, older
from tfdoctor.rules.tensorflow._arch import pair
from tfdoctor.tables import Tables

#: Compute capability 12.x has less shared memory for a kernel than NCCL before 2.26 asked for.
#: https://github.com/NVIDIA/nccl/issues/1637
BLACKWELL_GEFORCE, FIRST_GOOD = 12, "2.26"


@rule("TFD322", Severity.WARNING)
def nccl_too_old_for_gpu(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    gpus: Gpus,
    tables: Tables,
    libraries: Optional[Libraries],
    distributions: Optional[Distributions],
) -> Found:
    """The NCCL in use is older than this kind of GPU and fails on it.

    ## What it is
    NCCL moves data between GPUs for `MirroredStrategy`. Versions before 2.26 ask for more shared memory than a kernel may
    have on compute capability 12.x (GeForce RTX 50, RTX PRO Blackwell). It is a fault of the library, not of the link between
    the cards: switching peer-to-peer off changes nothing. One GPU alone works.

    ## How it shows
    - `ncclMaxSharedMem 82240 exceeds device/fn maxSharedMem 79856`
    - `unhandled cuda error` or `ncclUnhandledCudaError` at the first all-reduce, with `NCCL_DEBUG=WARN` naming the line above

    ## How to be sure
    `NCCL_DEBUG=VERSION` makes the program print its NCCL. TensorFlow up to 2.20 has NCCL built in; from 2.21 on it takes
    `nvidia-nccl-cu12`.

    ## What to do
    - Linux, WSL2: TensorFlow 2.21 or newer (its NCCL is 2.27 or newer); a newer pip package does not help older TensorFlow.
    - Until then: `tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.ReductionToOneDevice())`, without NCCL.
    - Docker, Kubernetes: an image whose NCCL is 2.26 or newer. Slurm: the same, per node.
    - Windows: TensorFlow has no NCCL there. macOS: does not arise.

    ## References
    - https://github.com/NVIDIA/nccl/issues/1637
    """
    if len(gpus) < 2:
        raise NotApplicable(_("one GPU alone does not use NCCL"))
    version, source = in_use(tensorflow, tables, libraries, distributions)
    new = [gpu for gpu in gpus if gpu.compute_capability and pair(gpu.compute_capability)[0] == BLACKWELL_GEFORCE]
    if not new or not older(version, FIRST_GOOD):
        return None
    return Diagnosis(
        _(
            "NCCL {have} fails on {gpu} (compute capability {capability}) as soon as several GPUs work together; it takes "
            "{need} or newer."
        ).format(have=version, gpu=new[0].label, capability=new[0].compute_capability, need=FIRST_GOOD),
        evidence=(
            Evidence(_("NCCL {version}").format(version=version), source),
            Evidence(
                _("fixed in NCCL {version}").format(version=FIRST_GOOD), "https://github.com/NVIDIA/nccl/issues/1637"
            ),
        ),
        fixes=(remedies.by_hand(_("Move to a TensorFlow with NCCL {need} or newer (2.21)").format(need=FIRST_GOOD)),),
        gpus=() if len(new) == len(gpus) else tuple(gpu.index for gpu in new),
    )
