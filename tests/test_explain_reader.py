"""The log reader and the matcher: any bytes at all, any line ends, encodings and prefixes."""

from __future__ import annotations

import io
import json
from typing import BinaryIO

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tfdoctor.logs import matcher, reader
from tfdoctor.logs.matcher import Matcher
from tfdoctor.logs.reader import blocks
from tfdoctor.tables import Tables
from tfdoctor.tables.log_rows import KnownError

MATCHER = Matcher(Tables().rows(KnownError))
LINE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"
PIECES = [row.example for row in Tables().rows(KnownError)]


class Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time, as a pipe may."""

    def __init__(self, data: bytes, step: int) -> None:
        self.data, self.step = data, step

    def read(self, size: int = -1) -> bytes:
        piece, self.data = self.data[: self.step], self.data[self.step :]
        return piece


def scan(data: bytes | BinaryIO) -> matcher.Scan:
    return MATCHER.scan(blocks(io.BytesIO(data) if isinstance(data, bytes) else data))


def ids(found: matcher.Scan) -> list[str]:
    return [item.row.id for item in found.found]


PREFIXES = {
    "bare": "{}",
    "time": "2024-05-01 12:00:00.123456: E tensorflow/stream_executor/cuda/cuda_driver.cc:271] {}",
    "absl": "E0000 00:00:1735689600.123456   12345 cuda_driver.cc:152] {}",
    "old": "E tensorflow/stream_executor/cuda/cuda_driver.cc:318] {}",
    "prompt": "tf-docker /work > {}",
    "journal": "May 01 12:00:00 node17 python[4711]: {}",
    "kubectl": "[pod/train-0/worker] 2024-05-01T12:00:00.123456789Z stderr F {}",
    "rank": "[1,3]<stderr>:{}",
    "colour": "\x1b[31mERROR\x1b[0m \x1b[1;33m{}\x1b[0m",
    "jupyter": "\x1b[0;31mInternalError\x1b[0m: {} [Op:MatMul]",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_every_prefix(prefix: str) -> None:
    found = scan(f"first\n{prefix.format(LINE)}\nlast\n".encode())
    assert "cuinit-no-device" in ids(found)
    assert found.lines == 3
    assert next(f for f in found.found if f.row.id == "cuinit-no-device").lines == [2]


def test_a_colour_inside_the_words() -> None:
    assert "cuinit-no-device" in ids(scan(b"CUDA_ERROR_\x1b[1mNO_DEVICE\x1b[0m\n"))


def test_a_json_log_of_a_container_engine() -> None:
    line = json.dumps({"log": LINE + "\n", "stream": "stderr", "time": "2024-05-01T12:00:00Z"})
    assert "cuinit-no-device" in ids(scan(line.encode()))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("step", [1, 7, 1 << 20])
def test_encodings_and_line_ends(encoding: str, end: str, step: int) -> None:
    text = end.join(["begin", LINE, "Ende – 完", ""])
    found = scan(Trickle(text.encode(encoding), step))  # type: ignore[arg-type]
    assert (found.lines, ids(found)) == (3, ["cuinit-no-device"])
    assert found.found[0].text == LINE


def test_broken_utf8_around_a_known_message() -> None:
    found = scan(b"\xc3(\xff\n\x80\x81 " + LINE.encode() + b" \xed\xa0\x80\n")
    assert "cuinit-no-device" in ids(found)


def test_a_progress_bar_that_never_ends_its_line() -> None:
    found = scan(b"\r 10% [=>   ]" * 300_000 + LINE.encode() + b"\r" * 10)
    assert "cuinit-no-device" in ids(found)


def test_a_message_over_several_lines() -> None:
    text = "    Remapped Rows\n        Correctable Error : 1\n        Uncorrectable Error : 0\n        Pending : Yes\n"
    assert "remap-pending" in ids(scan(text.encode()))


def test_repeated_lines_stop_being_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matcher, "ENOUGH", 50)
    monkeypatch.setattr(reader, "BLOCK", 1 << 12)
    found = next(f for f in scan((LINE + "\n").encode() * 5000).found if f.row.id == "cuinit-no-device")
    assert found.more
    assert 50 <= found.count < 5000
    assert found.lines[:3] == [1, 2, 3]


def test_the_last_lines_are_looked_at_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message that was there often enough is still known as one of the last: a program that hangs stops there."""
    monkeypatch.setattr(matcher, "ENOUGH", 50)
    monkeypatch.setattr(reader, "BLOCK", 1 << 12)
    found = next(f for f in scan((LINE + "\n").encode() * 5000).found if f.row.id == "cuinit-no-device")
    assert found.last == 5000


def test_words_in_vain_are_no_longer_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """They cost a few tries per block at most, and the message at the end is found all the same."""
    monkeypatch.setattr(matcher, "IN_VAIN", 20)
    monkeypatch.setattr(reader, "BLOCK", 1 << 12)
    tries = []
    whole = Matcher._try

    def counted(self: Matcher, index: int, *rest: object) -> bool:
        tries.append(index)
        return whole(self, index, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Matcher, "_try", counted)
    found = scan(b"cuInit is spoken of here\n" * 20_000 + b"cuInit: CUDA_ERROR_NOT_INITIALIZED: initialization error\n")
    assert "cuinit-not-initialized" in ids(found)
    assert found.lines == 20_001
    assert len(tries) < 5000


def test_line_numbers_over_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK", 64)
    found = scan(b"x" * 40 + b"\n" + b"y\n" * 500 + LINE.encode() + b"\nz")
    assert next(f for f in found.found if f.row.id == "cuinit-no-device").lines == [502]
    assert found.lines == 503


def test_lines_that_look_like_errors() -> None:
    text = "loss: 0.1 - mean_absolute_error: 0.2\nValueError: a shape of (3,) is odd\nall is well\nTraceback (most recent call last):\n"
    assert [line for line, _text in scan(text.encode()).odd] == [2, 4]


logs = st.lists(
    st.one_of(st.sampled_from(PIECES), st.text(max_size=60), st.sampled_from(["\x1b[31m", "\r", "\0", "﻿", "\x1b]0;"])),
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=4000), logs.map(lambda parts: "\n".join(parts).encode("utf-8", "replace"))))
def test_no_bytes_make_it_raise(data: bytes) -> None:
    found = scan(data)
    assert found.lines >= 0
    assert all(1 <= line <= found.lines for item in found.found for line in item.lines)


@settings(max_examples=60, deadline=None)
@example(["\0", "\0", LINE], 1)
@given(logs, st.integers(1, 50))
def test_how_it_arrives_does_not_matter(parts: list[str], step: int) -> None:
    data = "\n".join(parts).encode("utf-8", "replace")
    whole, trickled = scan(data), scan(Trickle(data, step))  # type: ignore[arg-type]
    assert ids(whole) == ids(trickled)
    assert whole.lines == trickled.lines
