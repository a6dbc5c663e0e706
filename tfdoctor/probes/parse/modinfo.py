"""`modinfo nvidia` and the .modinfo section of a kernel module."""

from __future__ import annotations

import io


def parse(text: str) -> dict[str, str]:
    """`version:        535.183.01` -> {"version": "535.183.01"}; the first line of a repeated key counts."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and name and not name[0].isspace() and " " not in name:
            values.setdefault(name, value.strip())
    return values


def section(module: bytes) -> dict[str, str]:
    """What an uncompressed kernel module says of itself ({} when it is none or says nothing)."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        found = ELFFile(io.BytesIO(module)).get_section_by_name(".modinfo")
        data = found.data() if found is not None else b""
    except (ELFError, ValueError, KeyError, TypeError, AttributeError, UnicodeDecodeError, OverflowError, MemoryError):
        return {}  # a broken file makes the reader fail in any of these ways
    pairs = (entry.decode("utf-8", "replace").partition("=") for entry in data.split(b"\0"))
    values: dict[str, str] = {}
    for name, sign, value in pairs:
        if sign:
            values.setdefault(name, value)
    return values


def signed(module_end: bytes) -> bool:
    """Does the end of a module's file carry the mark of an appended signature?"""
    return module_end.endswith(b"~Module signature appended~\n")
