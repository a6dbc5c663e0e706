"""TFD112 pcie-narrow-slot-by-design."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.pci import Pci
from tfdoctor.rules._hints import index_at, name_at


@rule("TFD112", Severity.INFO)
def pcie_narrow_slot_by_design(machine: GpuMachine, pci: Pci, gpus: Optional[Gpus]) -> Iterator[Diagnosis]:
    """The GPU sits in a slot with fewer PCIe lanes than the card could use; nothing is broken.

    ## What it is
    A slot that is sixteen lanes long may have eight, four or one connected. The link is then as wide as the slot allows, and
    lspci says "downgraded" all the same. Many boards have one full slot only; cloud T4 machines give eight lanes by design.

    ## How it shows
    - `lspci -vv`: `LnkSta: … Width x4 (downgraded)` of the card, and `LnkCap: … Width x4` of the port above it

    ## How to be sure
    `lspci -tv` shows the port above the card; its `LnkCap` names the same small width. The board's manual says which slots
    are full.

    ## What to do
    - Nothing. If copies between host and GPU matter (large inputs, several GPUs without NVLink), use a slot with more lanes.
    - Boards that share lanes: an M.2 drive in the wrong place halves a slot.
    - Cloud, WSL2, Windows: nothing can be changed.

    ## References
    - https://github.com/geerlingguy/raspberry-pi-pcie-devices/issues/480
    - https://docs.kernel.org/PCI/sysfs-pci.html
    """
    for device in pci.nvidia_gpus:
        link, port = device.link, device.upstream[0] if device.upstream else None
        if link is None or port is None or not link.width or not link.max_width or not port.max_width:
            continue
        if port.max_width >= link.max_width or link.width < port.max_width:
            continue
        message = _("{gpu} sits in a slot with {slot} PCIe lanes; the card could use {card}.").format(
            gpu=name_at(gpus, device.address), slot=port.max_width, card=link.max_width
        )
        evidence = (
            Evidence(_("the port above {bus}: x{width}").format(bus=device.address, width=port.max_width), pci.source),
        )
        yield Diagnosis(message, evidence, gpus=index_at(gpus, device.address))
