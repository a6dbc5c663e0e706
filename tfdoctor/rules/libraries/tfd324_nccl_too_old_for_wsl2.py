"""TFD324 nccl-too-old-for-wsl2."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, NotApplicable, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._nccl import in_use, older
from tfdoctor.tables import Tables

#: 2.9.9 fails and 2.10 is the first that maintainers name. https://github.com/horovod/horovod/issues/3871
FIRST_GOOD = "2.10"


@rule("TFD324", Severity.WARNING)
def nccl_too_old_for_wsl2(
    machine: GpuMachine,
    platform: Platform,
    tensorflow: TensorFlow,
    gpus: Gpus,
    tables: Tables,
    libraries: Optional[Libraries],
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
) -> Found:
    """The NCCL in use is older than its support for WSL2.

    ## What it is
    NCCL reads the layout of the machine from `/sys`. WSL2 shows GPUs through `/dev/dxg` and has no PCI tree for them. NCCL
    before 2.10 gives up there; newer versions do without. One GPU works, several do not.

    ## How it shows
    - `NCCL WARN Could not find real path of /sys/class/pci_bus/0000:03/../../0000:03:00.0`
    - `unhandled system error` at the first collective with two GPUs in WSL2

    ## How to be sure
    `uname -r` ends in `microsoft-standard-WSL2`, and `NCCL_DEBUG=VERSION` prints a version below 2.10. TensorFlow 2.5 to
    2.9 has 2.8.3 built in, 2.10 has 2.12.

    ## What to do
    - WSL2: TensorFlow 2.10 or newer; in a container an image with NCCL 2.10 or newer.
    - Until then use one GPU, or `tf.distribute.ReductionToOneDevice()` in `MirroredStrategy`.
    - Docker, Kubernetes on WSL2: the NCCL of the image decides, not that of the host.
    - Linux, Windows, macOS, Slurm: does not arise.

    ## References
    - https://github.com/horovod/horovod/issues/3871
    """
    if platform.wsl != 2 or len(gpus) < 2:
        raise NotApplicable(_("not several GPUs in WSL2"))
    version, source = in_use(tensorflow, tables, libraries, distributions)
    if not older(version, FIRST_GOOD):
        return None
    return Diagnosis(
        _("NCCL {have} cannot work in WSL2, where {count} GPUs are; it takes {need} or newer.").format(
            have=version, count=len(gpus), need=FIRST_GOOD
        ),
        evidence=(
            Evidence(_("NCCL {version}").format(version=version), source),
            Evidence(_("WSL2 kernel {kernel}").format(kernel=platform.kernel), platform.source),
        ),
        fixes=(remedies.install(interpreter, "tensorflow>=2.10", title=_("Move to TensorFlow 2.10 or newer")),),
    )
