"""`lspci`, `lspci -nn`, `lspci -vvv` and `lspci -vvv -nn`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

from tfdoctor.probes.parse import pcie

# Class names as the PCI ID database has them, for listings without numbers.
CLASSES = {
    "VGA compatible controller": "0300",
    "XGA compatible controller": "0301",
    "3D controller": "0302",
    "Display controller": "0380",
    "PCI bridge": "0604",
    "Bridge": "0680",
    "Processing accelerators": "1200",
}
VENDORS = {
    "NVIDIA": "10de",
    "nVidia": "10de",
    "Advanced Micro Devices": "1002",
    "Intel": "8086",
    "ASPEED": "1a03",
    "Matrox": "102b",
}
_HEAD = re.compile(
    r"^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([^:\[]+?)(?: \[([0-9a-f]{4})\])?: (.*)$", re.I
)
_IDS = re.compile(r"\[([0-9a-f]{4}):([0-9a-f]{4})\]")
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}


@dataclass(frozen=True)
class Device:
    """One device as listed. Numbers are hex text without 0x, "" where a listing without numbers does not tell.

    `link` is (generation, width, maximum generation, maximum width). `secondary` is the bus below a bridge.
    `acs_redirect`: None where the listing does not show it."""

    address: str
    device_class: str
    vendor: str
    device: str
    name: str
    dead: bool
    driver: Optional[str] = None
    numa_node: Optional[int] = None
    link: tuple[Optional[int], Optional[int], Optional[int], Optional[int]] = (None, None, None, None)
    bars: tuple[int, ...] = ()
    secondary: str = ""
    acs_redirect: Optional[bool] = None


def parse(text: str) -> tuple[Device, ...]:
    """Every device, in the listing's order."""
    blocks: list[tuple[re.Match[str], list[str]]] = []
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head is not None:
            blocks.append((head, []))
        elif blocks and line[:1].isspace():
            blocks[-1][1].append(line.strip())
    return tuple(_device(head, body) for head, body in blocks)


def _device(head: re.Match[str], body: list[str]) -> Device:
    address, class_name, class_number, rest = head.groups()
    ids = _IDS.findall(rest)
    name = re.sub(r"\s*(\[[0-9a-f]{4}:[0-9a-f]{4}\]|\(rev [0-9a-f]{2}\)|\(prog-if [^)]*\))", "", rest).strip()
    vendor, device = ids[-1] if ids else (_vendor(rest), _device_number(rest))
    details = "\n".join(body)
    return Device(
        address=full_address(address),
        device_class=(class_number or CLASSES.get(class_name, "")).lower(),
        vendor=vendor,
        device=device,
        name=re.sub(r"^NVIDIA Corporation |^Advanced Micro Devices, Inc\. (\[AMD/ATI\] )?", "", name),
        dead="(rev ff)" in rest or "!!! Unknown header type 7f" in details,
        driver=_driver(details),
        numa_node=_numa(details),
        link=_link(details),
        bars=_bars(body),
        secondary=_first(r"secondary=([0-9a-f]{2})", details),
        acs_redirect=_acs(details),
    )


def full_address(address: str) -> str:
    """`3B:00.0` and `00000000:3b:00.0` -> "0000:3b:00.0"; POWER's and Azure's four-digit domains stay."""
    parts = address.lower().rsplit(":", 2)
    domain = parts[0] if len(parts) == 3 else "0"
    return f"{domain.lstrip('0').rjust(4, '0')}:{parts[-2]}:{parts[-1]}" if len(parts) > 1 else address.lower()


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found.group(1) if found else ""


def _vendor(rest: str) -> str:
    return next((number for name, number in VENDORS.items() if rest.startswith(name)), "")


def _device_number(rest: str) -> str:
    return _first(r"\bDevice ([0-9a-f]{4})\b", rest)


def _driver(details: str) -> Optional[str]:
    """None where the listing is too short to show it."""
    driver = _first(r"Kernel driver in use: (\S+)", details)
    return driver if driver or re.search(r"^(?:Control|Flags):", details, re.M) else None


def _numa(details: str) -> Optional[int]:
    found = _first(r"NUMA node: ([0-9]{1,5})\b", details)
    return int(found) if found else None


def _link(details: str) -> tuple[Optional[int], Optional[int], Optional[int], Optional[int]]:
    now = re.search(r"LnkSta:\s*Speed ([^,(]+)(?:\([^)]*\))?,\s*Width (x\d+)", details)
    most = re.search(r"LnkCap:.*?Speed ([^,]+),\s*Width (x\d+)", details)
    ends = [(pcie.generation(m.group(1)), pcie.width(m.group(2))) if m else (None, None) for m in (now, most)]
    return (*ends[0], *ends[1])


def _bars(body: list[str]) -> tuple[int, ...]:
    sizes = []
    for line in body:
        if line.startswith("Virtual Function") or "VF offset" in line:
            break  # the regions below belong to virtual functions
        found = re.match(r"Region \d: Memory at (\S+)(.*)", line)
        size = re.search(r"\[size=([0-9]{1,9})([KMGT]?)\]", line)
        if found is None:
            continue
        if found.group(1).startswith("<"):  # <unassigned>, <ignored>
            sizes.append(0)
        elif size is not None:
            sizes.append(int(size.group(1)) * _UNITS[size.group(2)])
    return tuple(sizes)


def _acs(details: str) -> Optional[bool]:
    found = re.search(r"ACSCtl:.*?ReqRedir([+-])", details)
    if found is not None:
        return found.group(1) == "+"
    return False if "Capabilities: [100" in details else None


def relevant(text: str) -> str:
    """The blocks of graphics devices, accelerators, bridges and everything of NVIDIA's, without vital product data."""
    kept: list[str] = []
    keep = False
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head is not None:
            device = _device(head, [])
            keep = device.device_class[:2] in ("03", "12") or device.device_class == "0604" or device.vendor == "10de"
        if keep and not re.match(r"\s+(?:\[\w\w\] |Vital Product Data|Product Name:|Read-only fields)", line):
            kept.append(line)
    return "".join(f"{line}\n" for line in kept)
