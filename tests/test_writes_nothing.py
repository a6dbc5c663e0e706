"""`check` writes nothing, runs no shell, and needs no root."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import whole_machine

# Watches tfdoctor's own process through Python's audit events, and prints what would have changed anything.
WATCH = """
import os, sys
WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.truncate", "shutil.")
seen = []
def hook(event, arguments):
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITE:
        path = str(arguments[0])
        if not path.startswith(("/dev/null", "/dev/tty")) and not path.isdigit() and "__pycache__" not in path:
            seen.append(f"open {path}")
    elif event.startswith(CHANGES):
        if "__pycache__" not in str(arguments):
            seen.append(f"{event} {arguments}")
    elif event == "os.system" or (event == "subprocess.Popen" and os.path.basename(str(arguments[0])) in ("sh", "bash", "dash")):
        seen.append(f"{event} {arguments}")
sys.addaudithook(hook)
from tfdoctor.cli import main
try:
    main(sys.argv[1:])
finally:
    for line in seen:
        print("CHANGED", line, file=sys.stderr)
"""


def listing(*folders: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for folder in folders
        for path in folder.rglob("*")
        if not path.is_symlink()
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",),
        ("check", "--format", "json"),
        ("check", "--require", "gpus>=1", "--verbose"),
        ("fix", "--dry-run"),
        ("compat", "--here"),
        ("report",),
    ],
)
def test_nothing_is_written_and_no_shell_is_run(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    machine = whole_machine.build(tmp_path)
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    watched = (home, temporary, tmp_path / "elsewhere", tmp_path / "site-packages", tmp_path / "root")
    before = listing(*watched)
    done = subprocess.run(
        [sys.executable, "-B", "-c", WATCH, *arguments],
        env={**machine.variables, "HOME": str(home), "TMPDIR": str(temporary)},
        cwd=tmp_path / "elsewhere",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("CHANGED")] == []
    assert listing(*watched) == before


def test_the_watch_sees_a_write(tmp_path: Path) -> None:
    """The test above would notice: a command that is told to write does."""
    machine = whole_machine.build(tmp_path)
    argv = [sys.executable, "-B", "-c", WATCH, "check", "--output", f"json={tmp_path / 'out.json'}"]
    done = subprocess.run(
        argv, env=machine.variables, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert "CHANGED" in done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["schema"] == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_somebody_without_any_right_can_run_it(tmp_path: Path) -> None:
    """As nobody, in a working directory and home that only root may write to."""
    host = Path(__file__).with_name("hosts") / "ubuntu-rtx3090-tf2.20-healthy"
    code = "import os, sys; os.setgid(65534); os.setuid(65534); from tfdoctor.cli import main; main(sys.argv[1:])"
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o755)
    able = [sys.executable, "-B", "-c", code.replace("main(sys.argv[1:])", f"os.listdir({str(host)!r})")]
    if subprocess.run(able, capture_output=True, cwd=closed, check=False).returncode:
        pytest.skip("nobody may not read this checkout or its interpreter")
    for arguments, codes, says in (
        (("check", "--host", str(host)), (0, 1), ""),
        (("check",), (0, 1), ""),
        (("check", "--output", "json=report.json"), (2,), "json=report.json: . cannot be written to"),
    ):
        done = subprocess.run(
            [sys.executable, "-B", "-c", code, *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(closed)},
            cwd=closed,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode in codes, done.stderr
        assert says in done.stderr and "Traceback" not in done.stderr
        assert (done.stdout == "") == (codes == (2,))  # nothing was looked at in vain
    assert list(closed.iterdir()) == []
