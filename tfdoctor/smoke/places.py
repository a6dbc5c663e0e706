"""Which card TensorFlow's GPU number N is: its numbers follow CUDA's order, NVML's the PCI bus."""

from __future__ import annotations

import re
from typing import Optional

from tfdoctor.i18n import _
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.smoke import SmokeResults

# TensorFlow logs it when it makes a device; no call of its Python interface tells the bus.
_CREATED = re.compile(
    r"Created device \S{1,120} with .{1,80}-> device: (\d{1,3}), name: .{1,120}?, pci bus id: ([0-9a-fA-F:.]{4,20})"
)


def bus_of(smoke: SmokeResults, number: int) -> str:
    """The PCI bus id of TensorFlow's GPU `number` as TensorFlow printed it, or ""."""
    for result in smoke.results:
        for found in _CREATED.finditer(result.log):
            if int(found.group(1)) == number:
                return found.group(2).lower()
    return ""


def card_name(smoke: SmokeResults, number: int, gpus: Optional[Gpus]) -> str:
    """The card for people: the driver's label where the bus tells it, else TensorFlow's number and name."""
    bus = bus_of(smoke, number)
    for gpu in gpus or () if bus else ():
        if gpu.bus and _short(gpu.bus) == _short(bus):
            return _("{gpu} ({bus})").format(gpu=gpu.label, bus=bus)
    listed = smoke.get("devices")
    names = listed.measured.get("listed", []) if listed is not None else []
    name = names[number].get("name", "") if number < len(names) else ""
    return _("TensorFlow's GPU {number} {name}").format(number=number, name=name).rstrip()


def _short(bus: str) -> str:
    """ "00000000:01:00.0" and "0000:01:00.0" are the same address."""
    domain, _colon, rest = bus.lower().partition(":")
    return f"{int(domain, 16):x}:{rest}"
