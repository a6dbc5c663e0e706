"""What a recording keeps of a file that a probe read: no more than the probes take from it."""

from __future__ import annotations

import re
import struct
from collections.abc import Collection
from typing import Callable

from tfdoctor.loader_cache import (
    EXTENSION_MAGIC,
    GLIBC_HWCAPS_SECTION,
    NAMED_HWCAP,
    NEW_ENTRY,
    NEW_HEADER,
    NEW_MAGIC,
    CacheEntry,
    parse_cache,
)
from tfdoctor.probes.kernel_driver import KNOWN
from tfdoctor.probes.parse import cgroup, cloud_init, command_line, cpuinfo, dmesg, dpkg_status, group, lspci, pcie
from tfdoctor.probes.surroundings import ASSET_TAGS
from tfdoctor.scrub import REDACTED, Scrubber

MOST_KEPT = 1024 * 1024  # bytes of one file; only shared libraries and kernel modules are longer

# Kept whole apart from names and addresses; everything else that is read is text as well.
BINARY: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (
    (r"/sys/bus/pci/devices/[^/]+/config", pcie.reduced),
    (r"/sys/firmware/efi/efivars/SecureBoot-.*", lambda data: data[:5]),
)
TEXT: tuple[tuple[str, Callable[[str], str]], ...] = (
    (r"/proc/cpuinfo", cpuinfo.relevant),
    (r"/proc/cmdline", lambda text: " ".join(command_line.relevant(text))),
    (r"/proc/modules", lambda text: _lines_of(text, KNOWN)),
    (r"/proc/(?:\d+|self)/mountinfo", cgroup.inside_mounts),
    (r"/var/lib/dpkg/status", dpkg_status.relevant),
    (r"/run/cloud-init/instance-data\.json", cloud_init.relevant),
    (r"/etc/bash\.bashrc", lambda text: "tf-docker" if "tf-docker" in text else ""),
    (r"/sys/class/dmi/id/chassis_asset_tag", lambda text: text if text.strip() in ASSET_TAGS else REDACTED),
)
CAPTURES: dict[str, Callable[[str], str]] = {"dmesg.txt": dmesg.relevant, "lspci-vvv.txt": lspci.relevant}
# Processes come and go, and their names are their owner's; what the probes make of them is stated in recording.json.
NEVER = re.compile(r"/proc/\d+/(?!cgroup$).*|/proc/self/environ|/etc/(?:passwd|shadow|hosts|hostname|machine-id)")


def kept(path: str, data: bytes, scrub: Scrubber, groups: Collection[int]) -> bytes:
    """The content that a recording holds at `path`; empty for a library, of which only what the loader reads is kept."""
    if path == "/etc/ld.so.cache":
        return build_cache([CacheEntry(e.soname, scrub.text(e.path), e.flags, e.hwcap) for e in parse_cache(data)])
    if path == "/etc/group":
        return group.relevant(data.decode("utf-8", "replace"), groups).encode()
    for pattern, reduce_bytes in BINARY:
        if re.fullmatch(pattern, path):
            return reduce_bytes(data)
    if b"\0" in data[:4096].rstrip(b"\0") and not path.startswith(("/proc/device-tree", "/sys/firmware/devicetree")):
        return b""
    text = data[:MOST_KEPT].decode("utf-8", "replace")
    for pattern, reduce_text in TEXT:
        if re.fullmatch(pattern, path):
            text = reduce_text(text)
    return scrub.text(text).encode()


def _lines_of(text: str, names: Collection[str]) -> str:
    rows = (line for line in text.splitlines() if line.split() and line.split()[0].replace("-", "_") in names)
    return "".join(f"{line.split()[0]}\n" for line in rows)


def build_cache(entries: Collection[CacheEntry]) -> bytes:
    """An ld.so.cache in the new format, little-endian, with these entries in this order."""
    names = sorted({e.hwcap for e in entries if e.hwcap})
    strings, offsets = bytearray(), {}
    base = NEW_HEADER + NEW_ENTRY * len(entries)
    for word in (*names, *(w for e in entries for w in (e.soname, e.path))):
        if word not in offsets:
            offsets[word] = base + len(strings)
            strings += word.encode() + b"\0"
    strings += b"\0" * (-len(strings) % 8)
    table = b"".join(
        struct.pack(
            "<iIIIQ",
            e.flags,
            offsets[e.soname],
            offsets[e.path],
            0,
            NAMED_HWCAP | names.index(e.hwcap) if e.hwcap else 0,
        )
        for e in entries
    )
    at = base + len(strings)
    extension = struct.pack("<II", EXTENSION_MAGIC, 1) + struct.pack(
        "<IIII", GLIBC_HWCAPS_SECTION, 0, at + 24, 4 * len(names)
    )
    extension += b"".join(struct.pack("<I", offsets[name]) for name in names)
    header = NEW_MAGIC + struct.pack("<II", len(entries), len(strings)) + struct.pack("<IIIII", 2, at, 0, 0, 0)
    return header.ljust(NEW_HEADER, b"\0") + table + bytes(strings) + extension
