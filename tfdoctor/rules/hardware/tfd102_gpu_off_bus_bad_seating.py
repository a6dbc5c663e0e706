"""TFD102 gpu-off-bus-bad-seating."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules._hints import index_at, lost_gpus, name_at


@rule("TFD102", Severity.ERROR)
def gpu_off_bus_bad_seating(log: KernelLog, gpus: Optional[Gpus]) -> Found:
    """A GPU fell off the PCIe bus after link errors on its slot: it sits badly, or the slot or riser is bad.

    ## What it is
    A card that drops off the bus because of its contacts announces itself: the kernel counts PCIe errors (AER) on that slot
    before. Heat and power faults come without them. It is always the same slot, whatever card is in it.

    ## How it shows
    - `pcieport …: AER: Corrected error received`, `PCIe Bus Error: severity=Corrected, type=Data Link Layer` in the kernel log
    - then `NVRM: GPU … has fallen off the bus`, or `Unable to determine the device handle for GPU…: Unknown Error`
    - temperature and power were normal

    ## How to be sure
    `dmesg | grep -E 'AER|fallen off'`: the errors name the address of the GPU or of the port above it. Exchange two cards:
    if the fault stays with the slot it is the slot, if it moves it is the card.

    ## What to do
    - Power off, take the card out and seat it again; screw it down; check that it does not sag.
    - Without riser cables, or with better ones; PCIe 4 and 5 need good ones. A lower link generation in the firmware is a test.
    - Another slot; then the board or the card to service.
    - Cloud: give the instance back and take another. Slurm, Kubernetes: drain the node.

    ## References
    - https://github.com/NVIDIA/open-gpu-kernel-modules/issues/387
    - https://docs.kernel.org/PCI/pcieaer-howto.html
    """
    errors = log.of("aer")
    for bus in lost_gpus(gpus, log):
        slot = bus.split(".")[0]
        count = sum(1 for line in errors if slot in line.lower())
        if count:
            message = _(
                "{gpu} fell off the PCIe bus after {count} link errors at {slot}: a matter of slot, riser or contacts."
            ).format(gpu=name_at(gpus, bus), count=count, slot=slot)
            evidence = (Evidence(_("{count} PCIe errors (AER) at {slot}").format(count=count, slot=slot), log.source),)
            fix = remedies.by_hand(
                _("Power off, seat the card again, leave out risers, try another slot"), needs=("reboot",)
            )
            return Diagnosis(message, evidence, (fix,), gpus=index_at(gpus, bus))
    return None
