"""What cannot be used ends with one sentence that names it, exit code 2 and nothing half-done, for every command."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tfdoctor.cli import main

HOST = str(Path(__file__).with_name("hosts") / "ubuntu-rtx3090-tf2.20-healthy")
REPORT = {"schema": 1, "facts": {}, "verdict": {"gpu": "no", "summary": ""}, "diagnoses": []}

Make = Callable[[Path], object]
# What may lie where a file is wanted -> how it comes there.
FILES: dict[str, Make] = {
    "absent": lambda path: None,
    "empty": lambda path: path.write_bytes(b""),
    "folder": lambda path: path.mkdir(),
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 100),
    "loop": lambda path: path.symlink_to(path.name),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "broken": lambda path: path.write_text('{"schema": 1, "fac'),
    "other type": lambda path: path.write_text("[3]"),
    "deep": lambda path: path.write_text("[" * 100_000 + "]" * 100_000),
    "half": lambda path: path.write_text('{"schema": 1, "facts": {}, "tests": [3]}'),
    "other version": lambda path: path.write_text(json.dumps({**REPORT, "schema": 99, "tests": []})),
    "fields of other types": lambda path: path.write_text(
        json.dumps({**REPORT, "diagnoses": 3, "tests": [{"test": 1, "state": 2, "detail": 3, "measured": "x"}]})
    ),
}
# Where a file is named. FILE stands for it.
PLACES = {
    "expect": ["check", "--host", HOST, "--expect", "FILE"],
    "diff": ["diff", HOST, "FILE"],
    "baseline": ["smoke", "--baseline", "FILE"],
    "smoke": ["report", "--host", HOST, "--html", "page.html", "--smoke", "FILE"],
    "host": ["check", "--host", "FILE"],
    "python": ["check", "--python", "FILE"],
}


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    assert ended.value.code == 2, (out, err)
    assert out == ""
    assert "internal error" not in err
    assert len(err.strip().splitlines()) == 1 or err.startswith("Usage: "), err
    return err


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_is_none(
    kind: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if (kind, place) == ("folder", "diff"):
        pytest.skip("an empty folder is no recording: below")
    monkeypatch.chdir(tmp_path)
    FILES[kind](tmp_path / "given")
    before = os.listdir(tmp_path)
    said = refused(["given" if word == "FILE" else word for word in PLACES[place]], capsys)
    assert "given" in said
    assert os.listdir(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["chek"], "Did you mean check?"),
        (["nonsense"], "--help lists them"),
        (["check", "--timeout", "nan"], "nan"),
        (["check", "--timeout", "inf"], "inf"),
        (["check", "--timeout", "-1"], "-1"),
        (["smoke", "--seconds", "nan"], "nan"),
        (["smoke", "--timeout", "nan"], "nan"),
        (["check", "--host", ""], "''"),
        (["check", "--host", "."], "is no recording"),
        (["diff", HOST, "."], "is no recording"),
        (["check", "--host", HOST, "--python", "python3"], "do not go together"),
        (["check", "--output", "json=a", "--output", "junit=a"], "twice"),
        (["check", "--output", "json"], "FORMAT=FILE"),
        (["check", "--output", "json=absent/a"], "no folder absent"),
        (["check", "--require", "colour=red"], "colour=red"),
        (["check", "--require", "free-memory>=20"], "free-memory>=20GiB"),
        (["check", "--python", "\x1b[31m\n" * 1000], "does not exist"),
        (["report", "--smoke", "smoke.json"], "--html"),
        (["explain", "--all", "719"], "--all"),
        (["explain", "/dev/zero"], "is a device"),
        (["explain", "absent.log"], "does not exist"),
        (["fix", "--include", "ask"], "--yes"),
        (["fix", "--format", "sh"], "--dry-run"),
        (["fix", "--dry-run", "--only", "TFD999"], "TFD999"),
        (["fix", "--dry-run", "--only", "TFD302,nonsens"], "nonsens"),
        (["record", "/dev/null/machine"], "/dev/null is not a folder"),
        (["compat", "--gpu", "RTX 9090"], "RTX 9090"),
        (["run"], "wants a program"),
        (["run", "--", "./absent-program"], "absent-program"),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(value)[:40].replace("\x1b", ""),
)
def test_what_does_not_go(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = refused(arguments, capsys)
    assert says in said
    assert len(said) < 2000 and "\x1b" not in said
    assert os.listdir(tmp_path) == []


def test_a_value_of_given_that_says_nothing_is_told_and_the_rest_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "train.log"
    log.write_text("epoch 1\n")
    given = ["driver=abc", "os=plan9", "python=", "cuda=12.4", "os=Ubuntu 22.04"]
    with pytest.raises(SystemExit) as ended:
        main(["explain", "--no-host", *(word for pair in given for word in ("--given", pair)), str(log)])
    said = capsys.readouterr().err.splitlines()
    assert ended.value.code in (0, None)
    assert [line.split()[2] for line in said] == ["driver=abc", "os=plan9", "python="]
    assert "535.183.01" in said[0]


def test_a_report_written_by_windows_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(REPORT), encoding="utf-16")
    with pytest.raises(SystemExit) as ended:
        main(["diff", str(path), str(path)])
    assert ended.value.code == 0, capsys.readouterr().err


def test_the_end_of_a_long_log_is_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "train.log"
    log.write_text("an early line\n" * 500_000 + "the last line\n")
    with pytest.raises(SystemExit):
        main(["report", "--host", HOST, "--log", str(log)])
    out = capsys.readouterr().out
    assert "the last line" in out
    assert out.count("an early line") < 1000


def test_output_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    link = tmp_path / "latest.json"
    link.symlink_to("today.json")
    with pytest.raises(SystemExit):
        main(["check", "--host", HOST, "--output", f"json={link}"])
    assert link.is_symlink()
    assert json.loads((tmp_path / "today.json").read_text())["schema"] == 1


@pytest.mark.parametrize("content", ["", "\x00\xff rubbish\n%%%\n", "ERROR: pip is not here\n"])
def test_a_list_of_packages_without_any_says_nothing_of_tensorflow(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pip-freeze.txt").write_text(content)
    with pytest.raises(SystemExit):
        main(["check", "--host", str(tmp_path), "--verbose"])
    out = capsys.readouterr().out
    assert "GPUs?  UNKNOWN" in out
    (reason,) = (line for line in out.split("could not look (") if "TFD502 tensorflow-not-installed" in line)
    assert "pip-freeze.txt" in reason


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="everything is readable for this user")
def test_a_file_that_is_not_for_us(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text("{}")
    secret.chmod(0)
    for place in ("expect", "diff", "baseline", "smoke"):
        said = refused([str(secret) if word == "FILE" else word for word in PLACES[place]], capsys)
        assert "Permission denied" in said
