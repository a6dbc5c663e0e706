"""The PCI bus: graphics devices, NVSwitches and the links above them (sysfs, else lspci)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import Unavailable
from tfdoctor.probes.looking import if_told, is_there, text
from tfdoctor.probes.parse import pcie

if TYPE_CHECKING:
    from tfdoctor.probes.parse import lspci  # only where there is no sysfs: start-up counts

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


SYSFS = "/sys/bus/pci/devices"
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


@probe
def look_at_pci(host: Host) -> Pci:
    """sysfs, else lspci. Unavailable where neither shows a bus (some sandboxes hide it, Windows has another one)."""
    try:
        addresses = [p.rpartition("/")[2] for p in host.glob(f"{SYSFS}/*")]
        seen = bool(addresses) or host.stat(SYSFS) is not None
    except Unavailable:
        addresses, seen = [], False
    if seen:
        found = (_from_sysfs(host, address) for address in addresses if _ADDRESS.fullmatch(address))
        return Pci(tuple(d for d in found if d is not None), SYSFS)
    from tfdoctor.probes.parse import lspci

    listing = host.capture("lspci-vvv.txt")
    if listing is None:
        raise Unavailable(_("neither /sys/bus/pci nor lspci shows a PCI bus"))
    devices = lspci.parse(listing.stdout)
    if not devices:
        raise Unavailable(_("lspci listed no device"))
    return Pci(tuple(_from_listing(d, devices) for d in devices if _matters(d.vendor, d.device_class)), "lspci")


def _matters(vendor: str, device_class: str) -> bool:
    return device_class[:2] in ("03", "12") or (vendor == NVIDIA and device_class == "0680")


def _from_sysfs(host: Host, address: str) -> Optional[PciDevice]:
    """The device at `address`, or None when it is of no concern here or went away meanwhile."""
    folder = f"{SYSFS}/{address}"
    device_class = _hex(text(host, f"{folder}/class"))[:4]
    vendor = _hex(text(host, f"{folder}/vendor"))
    if not _matters(vendor, device_class):
        return None
    config = if_told(host.read_bytes, f"{folder}/config", 64) if vendor == NVIDIA else None
    return PciDevice(
        address=address,
        vendor=vendor,
        device=_hex(text(host, f"{folder}/device")),
        device_class=device_class,
        driver=_driver(host, folder),
        dead=pcie.dead(config or b""),
        numa_node=_number(text(host, f"{folder}/numa_node")),
        link=_link(host, folder),
        upstream=tuple(link for bridge in bridges_above(host, address) if (link := _link(host, bridge)) is not None),
        bars=pcie.bars(text(host, f"{folder}/resource")),
    )


def bridges_above(host: Host, address: str) -> tuple[str, ...]:
    """The sysfs folders of the bridges above a device, nearest first: its real path names them all."""
    parts = host.realpath(f"{SYSFS}/{address}").split("/")
    above = [p for p in parts[:-1] if _ADDRESS.fullmatch(p)]
    return tuple(f"{SYSFS}/{p}" for p in reversed(above))


def _driver(host: Host, folder: str) -> Optional[str]:
    """The bound driver's name, "" when none is bound, None where it cannot be told."""
    link = f"{folder}/driver"
    there = is_there(host, link)
    if not there:
        return None if there is None else ""
    real = host.realpath(link).rpartition("/")[2]
    return real if real != "driver" else None


def _link(host: Host, folder: str) -> Optional[Link]:
    """None for a device that has no PCI Express link or does not tell."""
    values = Link(
        generation=pcie.generation(text(host, f"{folder}/current_link_speed")),
        width=pcie.width(text(host, f"{folder}/current_link_width")),
        max_generation=pcie.generation(text(host, f"{folder}/max_link_speed")),
        max_width=pcie.width(text(host, f"{folder}/max_link_width")),
    )
    return None if values == Link(None, None, None, None) else values


def _hex(value: str) -> str:
    """`0x030200` -> "030200"."""
    return value.lower().removeprefix("0x") if re.fullmatch(r"(0x)?[0-9a-fA-F]{1,8}", value) else ""


def _number(value: str) -> Optional[int]:
    return int(value) if re.fullmatch(r"-?[0-9]{1,6}", value) else None


def _from_listing(device: lspci.Device, listed: tuple[lspci.Device, ...]) -> PciDevice:
    upstream = (_listed_link(bridge) for bridge in listed_above(device, listed))
    return PciDevice(
        address=device.address,
        vendor=device.vendor,
        device=device.device,
        device_class=device.device_class,
        name=device.name,
        driver=device.driver,
        dead=device.dead,
        numa_node=device.numa_node,
        link=_listed_link(device),
        upstream=tuple(link for link in upstream if link is not None),
        bars=device.bars,
    )


def _listed_link(device: lspci.Device) -> Optional[Link]:
    return Link(*device.link) if any(v is not None for v in device.link) else None


def listed_above(device: lspci.Device, listed: tuple[lspci.Device, ...]) -> tuple[lspci.Device, ...]:
    """The bridges above a listed device, nearest first: each one's secondary bus is the bus of the next."""
    above: list[lspci.Device] = []
    here = device
    while len(above) < len(listed):
        domain, bus = here.address.split(":")[:2]
        parent = next(
            (d for d in listed if d.secondary == bus and d.address.startswith(domain + ":") and d is not here), None
        )
        if parent is None or parent in above:
            break
        above.append(parent)
        here = parent
    return tuple(above)
