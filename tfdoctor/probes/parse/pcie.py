"""PCI Express speeds, and what sysfs and the configuration space tell of a device."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Optional

# Transfer rate in GT/s of each generation: fixed by the PCI Express base specifications 1.0 to 7.0.
GENERATIONS = {"2.5": 1, "5": 2, "8": 3, "16": 4, "32": 5, "64": 6, "128": 7}
IORESOURCE_MEM = 0x200  # Linux, include/linux/ioport.h
IORESOURCE_UNSET = 0x20000000  # "no address assigned yet", same place
BARS = 6  # the first lines of sysfs `resource`; the seventh is the ROM
WIDEST = 32  # lanes; a dead device reads as 63
ACS = 0x000D  # extended capability "Access Control Services"
EXTENDED = 0x100  # where extended capabilities begin


def generation(speed: str) -> Optional[int]:
    """`8.0 GT/s PCIe` or `8GT/s` -> 3; None for "Unknown" and whatever else."""
    found = re.match(r"\s*(\d{1,3})(?:\.(\d))?\d*\s*GT/s", speed, re.A)
    if found is None:
        return None
    whole, tenth = found.groups()
    return GENERATIONS.get(whole if tenth in (None, "0") else f"{whole}.{tenth}")


def width(lanes: str) -> Optional[int]:
    """`16` or `x16` -> 16; None for 0, for what no link has, and whatever else."""
    found = re.match(r"\s*x?([0-9]{1,3})\s*$", lanes)
    number = int(found.group(1)) if found else 0
    return number if 0 < number <= WIDEST else None


def bars(resource: str) -> tuple[int, ...]:
    """The memory regions in sysfs `resource` (`start end flags` a line), in bytes; 0 for one without an address."""
    sizes = []
    for line in resource.splitlines()[:BARS]:
        try:
            start, end, flags = (int(word, 16) for word in line.split())
        except ValueError:
            continue
        if flags & IORESOURCE_MEM:
            sizes.append(0 if not start or flags & IORESOURCE_UNSET else end - start + 1)
    return tuple(size if size > 0 else 0 for size in sizes)


def dead(config: bytes) -> bool:
    """Does the configuration space read as all ones? Then the device has left the bus or has no power."""
    return len(config) >= 4 and not config[:64].strip(b"\xff")


def acs_redirects(config: bytes) -> Optional[bool]:
    """Is "P2P request redirect" on? None where the space was not readable that far (only root reads beyond 64 bytes)."""
    if len(config) <= EXTENDED:
        return None
    offset = next((at for at, kind in _extended(config) if kind == ACS), None)
    if offset is None or offset + 8 > len(config):
        return False
    return bool(int.from_bytes(config[offset + 6 : offset + 8], "little") & 0x04)


def reduced(config: bytes) -> bytes:
    """The configuration space with nothing but its header and its access control: no serial number."""
    if len(config) <= EXTENDED:
        return config[:64]
    out = bytearray(EXTENDED + 12)
    out[:64] = config[:64]
    offset = next((at for at, kind in _extended(config) if kind == ACS), None)
    if offset is not None:
        out[EXTENDED : EXTENDED + 8] = (
            ACS.to_bytes(2, "little") + b"\x01\x00" + config[offset + 4 : offset + 8].ljust(4, b"\0")
        )
    return bytes(out)


def _extended(config: bytes) -> Iterator[tuple[int, int]]:
    """(offset, kind) of each extended capability. A broken chain ends it."""
    offset, seen = EXTENDED, set[int]()
    while EXTENDED <= offset <= len(config) - 4 and offset not in seen:
        seen.add(offset)
        header = int.from_bytes(config[offset : offset + 4], "little")
        if header in (0, 0xFFFFFFFF):
            return
        yield offset, header & 0xFFFF
        offset = (header >> 20) & 0xFFC
