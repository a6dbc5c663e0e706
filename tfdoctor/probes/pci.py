"""The PCI bus: graphics devices, NVSwitches and the links above them (sysfs, else lspci)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

NVIDIA = "10de"
AMD = "1002"


@dataclass(frozen=True)
class Link:
    """A PCIe link end: generation (1 to 7) and width in lanes, current and maximum; None where not told."""

    generation: Optional[int]
    width: Optional[int]
    max_generation: Optional[int]
    max_width: Optional[int]


@dataclass(frozen=True)
class PciDevice:
    """One device. `address` is "0000:3b:00.0" lower case, `vendor` and `device` are hex without 0x, `device_class` is
    "0302" (3D controller), "0300" (VGA), "0680" (NVSwitch)…; `driver` is the kernel driver bound to it or "".

    `dead`: its configuration space reads as all ones (lspci "rev ff"). `numa_node` is -1 where there is none.
    `upstream` are the links of the bridges above it, nearest first (the port that it is plugged into).
    `bars` are the sizes of its memory regions in bytes, 0 for one that firmware left unassigned; empty: not told.
    """

    address: str
    vendor: str
    device: str
    device_class: str
    name: str = ""
    driver: Optional[str] = None
    dead: bool = False
    numa_node: Optional[int] = None
    link: Optional[Link] = None
    upstream: tuple[Link, ...] = ()
    bars: tuple[int, ...] = ()


@dataclass(frozen=True)
class Pci:
    """Every device that matters: display and 3D controllers of any vendor, and NVIDIA's bridges (NVSwitches)."""

    devices: tuple[PciDevice, ...]
    source: str

    @property
    def nvidia_gpus(self) -> tuple[PciDevice, ...]:
        """NVIDIA's display controllers."""
        return tuple(d for d in self.devices if d.vendor == NVIDIA and d.device_class.startswith("03"))

    @property
    def nvswitches(self) -> tuple[PciDevice, ...]:
        """NVIDIA's bridges of class 0680."""
        return tuple(d for d in self.devices if d.vendor == NVIDIA and d.device_class == "0680")

    @property
    def amd_gpus(self) -> tuple[PciDevice, ...]:
        """AMD's display and compute controllers."""
        return tuple(d for d in self.devices if d.vendor == AMD and d.device_class[:2] in ("03", "12"))
