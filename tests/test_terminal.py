"""Terminals that know little, and a report that leaves the machine."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdoctor import terminal

HOST = next(p for p in Path(__file__).with_name("hosts").iterdir() if "8xh100" in p.name)
ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
WINDOWS = {"PYTHONIOENCODING": "cp1252"}


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    argv = [sys.executable, "-m", "tfdoctor", *arguments]
    return subprocess.run(argv, env={**os.environ, **variables}, capture_output=True, timeout=120)


@pytest.mark.parametrize("variables", [ASCII, WINDOWS], ids=["ascii", "cp1252"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("check", "--verbose", "--host", str(HOST)),
        ("check", "--format", "markdown", "--host", str(HOST)),
        ("report", "--host", str(HOST)),
        ("explain", "TFD122"),
        ("compat", "--tensorflow", "2.20"),
        ("diff", str(HOST), str(HOST)),
    ],
    ids=lambda a: a[0] if isinstance(a, tuple) else "",
)
def test_no_character_ends_the_program(arguments: tuple[str, ...], variables: dict[str, str]) -> None:
    done = run(*arguments, **variables)
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout
    assert b"Unicode" not in done.stderr


def test_json_stays_json_in_ascii() -> None:
    done = run("check", "--format", "json", "--host", str(HOST), **ASCII)
    assert done.stdout.isascii()
    assert json.loads(done.stdout)["verdict"]["gpu"] in ("yes", "no")


@given(st.text())
def test_what_ascii_gets_is_valid_inside_json(text: str) -> None:
    terminal.prepare()
    quoted = json.dumps(text, ensure_ascii=False).encode("ascii", terminal.HANDLER)
    read = json.loads(quoted)
    assert read == "".join(terminal.PLAINER.get(c, c) for c in text) or any(c in terminal.PLAINER for c in text)


def on_a_terminal(columns: str = "80", **variables: str) -> str:
    """What `check` prints when standard output is a terminal."""
    leader, follower = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CI", "COLUMNS")}
    env = {**kept, "TERM": "xterm", "COLUMNS": columns, **variables}
    argv = [sys.executable, "-m", "tfdoctor", "check", "--host", str(HOST)]
    child = subprocess.Popen(argv, stdout=follower, stderr=subprocess.DEVNULL, env=env)
    os.close(follower)
    said = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # Linux says so when the last writer is gone
            break
        if not part:
            break
        said += part
    os.close(leader)
    child.wait(timeout=60)
    return said.decode()


def test_colours_on_a_terminal_only_and_not_when_unwanted() -> None:
    assert "\x1b[" in on_a_terminal()
    assert "\x1b[" not in on_a_terminal(NO_COLOR="1")
    assert "\x1b[" not in on_a_terminal(CI="true")
    assert "\x1b[" not in on_a_terminal(TERM="dumb")
    assert b"\x1b[" not in run("check", "--host", str(HOST)).stdout


def test_width_is_the_terminals() -> None:
    """Sentences are wrapped; the table of GPUs and commands are not broken."""
    narrow = on_a_terminal("50", NO_COLOR="1")
    sentence = narrow.split("YES")[-1].split("NO")[-1].split("Target")[0]
    assert max(len(line) for line in sentence.splitlines()) <= 50
