"""Any log as blocks of whole lines in UTF-8: encodings, line ends and colours are settled here, in constant memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Callable, Optional

from tfdoctor.logs.wrapping import unwrapped

#: Bytes read at a time. Large enough that the first pass works in C, small enough to keep memory constant.
BLOCK = 1 << 20
#: A line longer than this is cut there; the rest counts as its continuation.
LONGEST_LINE = 1 << 20

#: The encoding is told from these first bytes.
SAMPLE = 512
#: Lines of the next block that a block shows as well: a message of several lines has at most one more than these.
AHEAD = 5

#: Colours, which are most of them.
_COLOURS = re.compile(rb"\x1b\[[0-9;]*m")
#: Colours and cursor movements (ECMA-48 CSI), window titles (OSC), character set switches. Each part is bounded.
_ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\)?|[()][0-9A-Za-z]|[=>78cDEHMNOZ])"
)


@dataclass(frozen=True)
class Block:
    """Whole lines of a log: `text` in UTF-8. Its first `own` bytes are the block's; what follows are the next lines, which
    come again in the next block and are there for messages of several lines. `first_line`: number of its first line,
    from 1. `lines`: line ends in its own part."""

    text: bytes
    own: int
    first_line: int
    lines: int


def blocks(stream: BinaryIO, progress: Optional[Callable[[int], None]] = None) -> Iterator[Block]:
    """The lines of `stream`. `progress` is told how many bytes each step has read."""
    rest = b""
    line = 1
    for piece in _filled(_decoded(stream, progress)):
        rest += piece
        past = rest.rfind(b"\n") + 1
        end = _before_last_lines(rest, past)
        if not end and len(rest) >= LONGEST_LINE:
            end = past = past or len(rest)
        if end:
            block = _block(rest[:end], rest[end:past], line)
            line += block.lines
            yield block
            rest = rest[end:]
    if rest:
        yield _block(rest, b"", line)


def _filled(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces joined to BLOCK bytes at least, however slowly they came. A log that is smaller altogether may be a copy from
    a terminal: its lines are as they were before they were cut."""
    held: list[bytes] = []
    size = 0
    small = True
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= BLOCK:
            yield b"".join(held)
            held, size, small = [], 0, False
    rest = b"".join(held)
    yield unwrapped(rest) if small else rest


def _before_last_lines(text: bytes, past: int) -> int:
    """Where the last AHEAD whole lines before `past` begin; 0 when there are no more than these."""
    place = past
    for _line in range(AHEAD):
        if place <= 0:
            return 0
        place = text.rfind(b"\n", 0, place - 1) + 1
    return place


def _block(raw: bytes, ahead: bytes, first_line: int) -> Block:
    text = _plain(raw)
    return Block(text + _plain(ahead), len(text), first_line, text.count(b"\n"))


def _plain(text: bytes) -> bytes:
    if b"\x1b" not in text:
        return text
    text = _COLOURS.sub(b"", text)
    return _ESCAPES.sub(b"", text) if b"\x1b" in text else text


def _decoded(stream: BinaryIO, progress: Optional[Callable[[int], None]]) -> Iterator[bytes]:
    """What the stream holds, as UTF-8 (bytes that are no UTF-8 stay: the words that count are ASCII)."""
    pieces = _pieces(stream, progress)
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= SAMPLE:  # however slowly they came, the same bytes decide
            break
    encoding, head = _encoding(head)
    decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)(errors="replace")
    yield _as_utf8(decoder, head)
    for piece in pieces:
        yield _as_utf8(decoder, piece)
    if decoder is not None:
        yield _as_utf8(decoder, b"", final=True)


def _pieces(stream: BinaryIO, progress: Optional[Callable[[int], None]]) -> Iterator[bytes]:
    while piece := stream.read(BLOCK):
        if progress is not None:
            progress(len(piece))
        yield piece


def _as_utf8(decoder: Optional[codecs.IncrementalDecoder], piece: bytes, final: bool = False) -> bytes:
    if decoder is None:
        return piece
    return decoder.decode(piece, final).encode("utf-8", errors="replace")


def _encoding(head: bytes) -> tuple[str, bytes]:
    """The encoding that the first bytes show, and these bytes without the byte order mark."""
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if head.startswith(mark):
            return name, head[len(mark) :]
    sample = head[:SAMPLE]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    mostly = len(sample) // 4  # text in UTF-16 has a zero in (nearly) every second byte
    if mostly and odd > mostly and not even:
        return "utf-16-le", head
    if mostly and even > mostly and not odd:
        return "utf-16-be", head
    return "utf-8", head
