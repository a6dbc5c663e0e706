"""/etc/ld.so.cache: which file the dynamic loader of glibc has for a soname.

Format: glibc's sysdeps/generic/dl-cache.h. The new format ("glibc-ld.so.cache1.1", glibc 2.2 on) may follow the old
one ("ld.so-1.7.0") in the same file; ldconfig of glibc 2.32 and newer writes the new one alone.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

OLD_MAGIC = b"ld.so-1.7.0"
OLD_HEADER, OLD_ENTRY = 16, 12
NEW_MAGIC = b"glibc-ld.so.cache1.1"
NEW_HEADER, NEW_ENTRY = 48, 24
EXTENSION_MAGIC = 0xEAA42174
GLIBC_HWCAPS_SECTION = 1
NAMED_HWCAP = 1 << 62  # the low half of `hwcap` is then an index into the names of glibc-hwcaps

# `flags` of an entry that a program of this machine can use: the type ELF for libc6 (3) and the architecture.
FLAGS = {
    "EM_X86_64": 0x0303,
    "EM_AARCH64": 0x0A03,
    "EM_PPC64": 0x0503,
    "EM_S390": 0x0403,
    "EM_386": 0x0003,
}


@dataclass(frozen=True)
class CacheEntry:
    """One line of `ldconfig -p`. `hwcap` is "" or the glibc-hwcaps folder that the file is for ("x86-64-v3")."""

    soname: str
    path: str
    flags: int
    hwcap: str


def parse_cache(data: bytes) -> tuple[CacheEntry, ...]:
    """Every entry, in the order in which the loader looks at them. What cannot be understood is left out; nothing raises."""
    start = _new_format_at(data)
    if start is None:
        return ()
    for order in "<>":
        head = _unpack(f"{order}II", data, start + len(NEW_MAGIC))
        if head is not None and head[0] * NEW_ENTRY <= len(data) - start:
            return tuple(_entries(data, start, order, head[0]))
    return ()


def _new_format_at(data: bytes) -> Optional[int]:
    if data.startswith(NEW_MAGIC):
        return 0
    if not data.startswith(OLD_MAGIC):
        return None
    for order in "<>":
        count = _unpack(f"{order}I", data, OLD_HEADER - 4)
        if count is not None:
            end = OLD_HEADER + count[0] * OLD_ENTRY
            at = end + -end % 8
            if data[at : at + len(NEW_MAGIC)] == NEW_MAGIC:
                return at
    return None


def _entries(whole: bytes, start: int, order: str, count: int) -> list[CacheEntry]:
    names = _hwcap_names(whole, start, order)
    data = whole[start:]
    found = []
    for i in range(count):
        entry = _unpack(f"{order}iIIIQ", data, NEW_HEADER + i * NEW_ENTRY)
        if entry is None:
            break
        flags, key, value, _osversion, hwcap = entry
        known = _hwcap(hwcap, names)
        soname, path = _string(data, key), _string(data, value)
        if known is not None and soname and path:
            found.append(CacheEntry(soname, path, flags, known))
    return found


def _hwcap(hwcap: int, names: Sequence[str]) -> Optional[str]:
    """The glibc-hwcaps name of an entry; None for one that this loader would not take (bits of before glibc 2.33)."""
    if not hwcap:
        return ""
    index = hwcap & 0xFFFFFFFF
    return names[index] if hwcap & NAMED_HWCAP and index < len(names) else None


def _hwcap_names(data: bytes, start: int, order: str) -> tuple[str, ...]:
    """The strings of the glibc-hwcaps section of the extension directory. Sections are placed from the beginning of the
    file; strings, as those of the entries, from the beginning of the new format."""
    at = _unpack(f"{order}I", data, start + 32)
    head = _unpack(f"{order}II", data, at[0]) if at is not None and at[0] else None
    if at is None or head is None or head[0] != EXTENSION_MAGIC:
        return ()
    for i in range(min(head[1], 64)):
        section = _unpack(f"{order}IIII", data, at[0] + 8 + i * 16)
        if section is not None and section[0] == GLIBC_HWCAPS_SECTION:
            offsets = (_unpack(f"{order}I", data, section[2] + 4 * j) for j in range(min(section[3] // 4, 1000)))
            return tuple(_string(data, start + o[0]) for o in offsets if o is not None)
    return ()


def _unpack(form: str, data: bytes, offset: int) -> Optional[tuple[int, ...]]:
    try:
        return struct.unpack_from(form, data, offset)
    except struct.error:
        return None


def _string(data: bytes, offset: int) -> str:
    end = data.find(b"\0", offset)
    return data[offset:end].decode("utf-8", "replace") if 0 <= offset < end else ""


# glibc-hwcaps of x86-64, best first, with the flags of /proc/cpuinfo that each asks for (x86-64 psABI, "micro-architecture levels").
X86_LEVELS = (
    ("x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
    ("x86-64-v3", {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}),
    ("x86-64-v2", {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"}),
)


def usable_hwcaps(cpu_flags: frozenset[str]) -> tuple[str, ...]:
    """The glibc-hwcaps that a processor with these flags uses, best first."""
    have: list[str] = []
    for name, wanted in reversed(X86_LEVELS):
        if not wanted <= cpu_flags:
            break
        have.insert(0, name)
    return tuple(have)


def look_up(
    entries: Sequence[CacheEntry], soname: str, machine: str, hwcaps: Sequence[str] = ()
) -> Optional[CacheEntry]:
    """The entry that the loader takes: the best usable glibc-hwcaps, else the first plain one."""
    fitting = [e for e in entries if e.soname == soname and e.flags == FLAGS.get(machine, e.flags)]
    best = [e for name in hwcaps for e in fitting if e.hwcap == name]
    return next(iter(best), None) or next((e for e in fitting if not e.hwcap), None)
