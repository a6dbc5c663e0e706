"""Logs copied from a terminal, which cuts lines at its width."""

from __future__ import annotations

import io
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdoctor.logs.matcher import Matcher
from tfdoctor.logs.reader import blocks
from tfdoctor.logs.wrapping import unwrapped
from tfdoctor.tables import Tables
from tfdoctor.tables.log_rows import KnownError

ROWS = Tables().rows(KnownError)
MATCHER = Matcher(ROWS)
LONG = [row for row in ROWS if row.span == 1 and len(row.example) > 100 and row.example.isprintable()]


def cut(line: str, width: int) -> str:
    """What a terminal of that many columns shows of a line."""
    return "\n".join(line[start : start + width] for start in range(0, len(line), width))


def found(text: str) -> set[str]:
    return {item.row.id for item in MATCHER.scan(blocks(io.BytesIO(text.encode()))).found}


@pytest.mark.parametrize("width", [80, 97, 132])
def test_known_messages_are_known_however_wide_the_terminal_was(width: int) -> None:
    """Each with some text before it, so that the cut comes at another place of each message."""
    lines = [f"2024-05-01 12:00:0{n % 10}: W {'x' * (n % 37)} {row.example}" for n, row in enumerate(LONG)]
    missing = [
        row.id
        for row, line in zip(LONG, lines)
        if row.id in found(f"a line\n{line}\n")
        and row.id
        not in found(
            f"2024-05-01 begins\n{cut('2024-05-01 ' + 'y' * 150, width)}\n{cut(line, width)}\n2024-05-01 ends\n"
        )
    ]
    assert len(LONG) > 100
    assert not missing


def test_every_line_keeps_its_number() -> None:
    text = "2024-05-01 " + "a" * 100 + "\n2024-05-02 b"
    wrapped = cut(text.split("\n")[0], 80) + "\n2024-05-02 b"
    assert unwrapped(wrapped.encode()).decode().split("\n") == [text.split("\n")[0], "", "2024-05-02 b"]


@pytest.mark.parametrize(
    "text",
    [
        "+" + "-" * 77 + "+\n| NVIDIA-SMI 535.54.03" + " " * 55 + "|\n|" + "=" * 77 + "|\n",
        "error: the same line that is said eighty times, each of them by itself, and all 80.\n" * 3,
        "short\nlines\n",
        "x" * 300 + "\n" + "y" * 300 + "\n",
    ],
    ids=["a table", "a line repeated", "short lines", "long lines"],
)
def test_what_no_terminal_cut_stays_as_it_is(text: str) -> None:
    assert unwrapped(text.encode()).decode() == text


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text(alphabet="ab |-+\r\té2", max_size=90), max_size=8).map("\n".join),
    st.binary(max_size=60),
    st.randoms(),
)
def test_no_text_loses_anything_but_line_ends(text: str, raw: bytes, chance: random.Random) -> None:
    data = cut(text, chance.choice([80, 70, 99])).encode() + raw
    after = unwrapped(data)
    assert after.count(b"\n") == data.count(b"\n")
    assert after.replace(b"\n", b"").replace(b"\r", b"") == data.replace(b"\n", b"").replace(b"\r", b"")
