"""Terminals that know little, and a report that leaves the machine."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tfdoctor import terminal

HOST = next(p for p in Path(__file__).with_name("hosts").iterdir() if "8xh100" in p.name)
ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
C_LOCALE = {name: value for name, value in ASCII.items() if name != "PYTHONIOENCODING"}
WINDOWS = {"PYTHONIOENCODING": "cp1252"}


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    argv = [sys.executable, "-m", "tfdoctor", *arguments]
    return subprocess.run(argv, env={**os.environ, **variables}, capture_output=True, timeout=120)


@pytest.mark.parametrize("variables", [ASCII, C_LOCALE, WINDOWS], ids=["ascii", "C", "cp1252"])
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
    assert variables is WINDOWS or (done.stdout.isascii() and done.stderr.isascii())


def test_json_stays_json_in_ascii() -> None:
    done = run("check", "--format", "json", "--host", str(HOST), **ASCII)
    assert done.stdout.isascii()
    assert json.loads(done.stdout)["verdict"]["gpu"] in ("yes", "no")


@given(st.text())
@example("“RTX 5090”")
def test_what_ascii_gets_is_valid_inside_json(text: str) -> None:
    terminal.prepare()
    quoted = json.dumps(text, ensure_ascii=False).encode("ascii", terminal.HANDLER)
    read = json.loads(quoted)
    assert read == "".join(terminal.PLAINER.get(c, c) for c in text) or any(c in terminal.PLAINER for c in text)


CHECK = ("check", "--host", str(HOST))


def on_a_terminal(columns: str = "80", *, arguments: tuple[str, ...] = CHECK, **variables: str) -> str:
    """What is printed when standard output is a terminal."""
    leader, follower = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CI", "COLUMNS")}
    env = {**kept, "TERM": "xterm", "COLUMNS": columns, **variables}
    argv = [sys.executable, "-m", "tfdoctor", *arguments]
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


@pytest.mark.parametrize(
    "arguments", [CHECK, ("compat", "--gpu", "8.6", "--python", "3.12"), ("explain", "TFD122")], ids=lambda a: str(a[0])
)
def test_colours_on_a_terminal_only_and_not_when_unwanted(arguments: tuple[str, ...]) -> None:
    assert "\x1b[" in on_a_terminal(arguments=arguments)
    for unwanted in ({"NO_COLOR": "1"}, {"CI": "true"}, {"TERM": "dumb"}):
        assert "\x1b[" not in on_a_terminal(arguments=arguments, **unwanted)
    assert b"\x1b[" not in run(*arguments).stdout


def test_one_place_decides() -> None:
    """No command asks the terminal itself, but for the output of the program that `run` runs."""
    package = Path(terminal.__file__).parent
    asking = {
        p.relative_to(package).as_posix()
        for p in package.rglob("*.py")
        if re.search(r"NO_COLOR|std(?:out|err)\.isatty|get_terminal_size", p.read_text())
    }
    assert asking == {"terminal.py"}


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"TERM": "xterm", "CI": "true"}, False)],
)
def test_no_line_is_written_over_in_a_log(
    variables: dict[str, str], wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert terminal.lively() is wanted


def test_width_is_the_terminals() -> None:
    """Sentences are wrapped; the table of GPUs and commands are not broken."""
    narrow = on_a_terminal("50", NO_COLOR="1")
    sentence = narrow.split("YES")[-1].split("NO")[-1].split("Target")[0]
    assert max(len(line) for line in sentence.splitlines()) <= 50
