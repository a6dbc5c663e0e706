"""GPU code in a library: the entries of the fat binaries that nvcc and clang embed.

Layout: a container starts with the magic number and a header (u16 version, u16 header size, u64 payload size);
its payload is a row of entries, each a header (u16 kind, u16 version, u32 header size, u64 payload size, …,
u16 minor, u16 major, u32 architecture at byte 28) and its code. Kind 1 is PTX, whose major.minor is the PTX ISA
version; kind 2 is machine code. The fields were checked against cuobjdump listings that others have published.
"""

from __future__ import annotations

import struct
from collections import Counter
from typing import IO

MAGIC = struct.pack("<I", 0xBA55ED50)
_CHUNK = 1 << 22
#: A header and its entries must fit in what is kept over the border of two chunks; larger ones are skipped.
_KEEP = 1 << 26


#: What one fat binary holds: the architectures with machine code, and PTX as (architecture, PTX ISA).
Code = tuple[tuple[int, ...], tuple[tuple[int, str], ...]]


def scan(stream: IO[bytes], limit: int = 0) -> Counter[Code]:
    """Count the fat binaries of ``stream`` by what they hold, in at most ``limit`` bytes of it (0: all).

    A fat binary cut off by the end of what was read is left out.
    """
    found: Counter[Code] = Counter()
    buffer, read = b"", 0
    while True:
        chunk = stream.read(_CHUNK)
        read += len(chunk)
        last = not chunk or bool(limit and read >= limit)
        buffer += chunk
        buffer = buffer[_scan_buffer(buffer, found, last) :]
        if last:
            return found


def _scan_buffer(buffer: bytes, found: Counter[Code], last: bool) -> int:
    """Count the complete fat binaries of ``buffer``; how many of its bytes are finished with."""
    position = 0
    while True:
        start = buffer.find(MAGIC, position)
        if start < 0:
            return max(position, len(buffer) - len(MAGIC) + 1)
        if len(buffer) < start + 16:
            return start
        version, header, size = struct.unpack_from("<HHQ", buffer, start + 4)
        if version != 1 or header != 16 or size > _KEEP:
            position = start + len(MAGIC)
            continue
        end = start + header + size
        if end > len(buffer):
            return len(buffer) if last else start
        code = _contents(buffer[start + header : end])
        if any(code):
            found[code] += 1
        position = end


def _contents(payload: bytes) -> Code:
    machine: set[int] = set()
    ptx: set[tuple[int, str]] = set()
    position = 0
    while position + 32 <= len(payload):
        kind, _, header, size = struct.unpack_from("<HHIQ", payload, position)
        minor, major, architecture = struct.unpack_from("<HHI", payload, position + 24)
        if kind not in (1, 2) or header < 32 or not 20 <= architecture <= 200:
            break
        if kind == 1:
            ptx.add((architecture, f"{major}.{minor}"))
        else:
            machine.add(architecture)
        position += header + size
    return tuple(sorted(machine)), tuple(sorted(ptx))
