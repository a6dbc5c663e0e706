"""TFD111 pcie-width-degraded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.pci import Pci
from tfdoctor.probes.surroundings import Cloud
from tfdoctor.rules._hints import index_at, name_at


@rule("TFD111", Severity.WARNING)
def pcie_width_degraded(
    machine: GpuMachine, pci: Pci, gpus: Optional[Gpus], cloud: Optional[Cloud]
) -> Iterator[Diagnosis]:
    """A GPU's PCIe link runs with fewer lanes than both the card and its slot can do.

    ## What it is
    Card and port agree on the number of lanes when the machine starts. Fewer than both can do means that some lanes did not
    come up: a bad contact, dirt, a riser, a damaged slot, or a setting that splits the slot. The number of lanes does not
    change with load (the speed does, and falls at rest: that is harmless).

    ## How it shows
    - `lspci -vv`: `LnkSta: … Width x8 (downgraded)` while `LnkCap` says x16, for the card and for the port above it
    - copies between host and GPU at half the usual rate or less; training that reads much data is slower

    ## How to be sure
    Compare `LnkCap` and `LnkSta` of the card with `LnkCap` of the port above (`lspci -tv` shows it). If the port itself has only so
    many lanes it is the slot's design (TFD112). In a virtual machine the port cannot be seen.

    ## What to do
    - Power off, clean and seat the card again; leave out risers; try another slot.
    - Firmware: lane splitting ("bifurcation"), slots that share lanes with M.2 drives.
    - Servers and cloud: service the node, or stop and start the instance.
    - WSL2, macOS: cannot be seen there; Windows: GPU-Z.

    ## References
    - https://docs.kernel.org/PCI/sysfs-pci.html
    - https://docs.nvidia.com/deploy/nvml-api/
    """
    if cloud is not None and cloud.virtual:
        return  # the ports of a virtual machine are made up
    for device in pci.nvidia_gpus:
        link, port = device.link, device.upstream[0] if device.upstream else None
        if link is None or port is None or not link.width or not link.max_width or not port.max_width:
            continue
        could = min(link.max_width, port.max_width)
        if link.width >= could:
            continue
        message = _(
            "{gpu} runs with {have} PCIe lanes, and both the card ({card}) and its slot ({slot}) can do more."
        ).format(gpu=name_at(gpus, device.address), have=link.width, card=link.max_width, slot=port.max_width)
        evidence = (
            Evidence(
                _("{bus}: x{width} of x{could}").format(bus=device.address, width=link.width, could=could), pci.source
            ),
        )
        fix = remedies.by_hand(
            _("Power off, seat the card again, leave out risers, look at the firmware's lane settings"),
            needs=("reboot",),
        )
        yield Diagnosis(message, evidence, (fix,), gpus=index_at(gpus, device.address))
