"""The manners of the command line itself: closed streams, interrupts, strangers in the working directory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import fake_nvml
import psutil
import pytest
import whole_machine

HOST = str(Path(__file__).with_name("hosts") / "ubuntu-rtx3090-tf2.20-healthy")


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    script = line.replace("TFDOCTOR", f"{sys.executable} -m tfdoctor")
    return subprocess.run(["bash", "-c", script], cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    "line", ["TFDOCTOR check --host HOST >&-", "TFDOCTOR check --host HOST 2>&-", "TFDOCTOR check --host HOST <&-"]
)
def test_closed_streams_are_no_fault_of_ours(line: str, tmp_path: Path) -> None:
    done = shell(line.replace("HOST", HOST), tmp_path)
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_named(tmp_path: Path) -> None:
    done = shell(f"TFDOCTOR check --host {HOST} > /dev/full", tmp_path)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    done = shell("TFDOCTOR explain --all | head -1; echo ${PIPESTATUS[0]}", tmp_path)
    assert done.stdout.splitlines()[-1] in ("0", "1")  # 1 is click's answer to a closed pipe
    assert done.stderr == ""


def test_files_in_the_working_directory_are_not_imported(tmp_path: Path) -> None:
    for name in ("click", "platform", "json", "pynvml", "packaging"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')\n")
    done = shell(f"TFDOCTOR check --host {HOST}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "imported" not in done.stderr


def test_usage_is_2_and_names_the_option(tmp_path: Path) -> None:
    done = shell("TFDOCTOR check --no-such-option", tmp_path)
    assert done.returncode == 2
    assert "--no-such-option" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_request_to_end_leaves_nothing_running(tmp_path: Path, number: signal.Signals) -> None:
    machine = whole_machine.build(tmp_path, nvml=fake_nvml.hanging("nvmlInitWithFlags"))
    argv = [sys.executable, "-m", "tfdoctor", "check", "--timeout", "600"]
    process = subprocess.Popen(
        argv, env=machine.variables, cwd=machine.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while not psutil.Process(process.pid).children():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1)
    children = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, number)
    _out, err = process.communicate(timeout=60)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert b"Traceback" not in err
    _gone, alive = psutil.wait_procs(children, timeout=30)
    assert [p for p in alive if p.status() != psutil.STATUS_ZOMBIE] == []


# Sends itself the signal argv[1] when the module argv[2] is imported, as if somebody had been that quick.
QUICK = """
import os, sys
number, module = int(sys.argv.pop(1)), sys.argv.pop(1)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Finder())
from tfdoctor.start import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("module", ["tfdoctor.cli", "click", "tfdoctor.commands.check", "tfdoctor.checkup"])
def test_a_request_to_end_is_heard_from_the_first_moment(tmp_path: Path, number: signal.Signals, module: str) -> None:
    """Before anything of ours is imported, and when the children are there but nobody waits for them yet."""
    machine = whole_machine.build(tmp_path, nvml=fake_nvml.hanging("nvmlInitWithFlags"))
    argv = [sys.executable, "-c", QUICK, str(int(number)), module, "check", "--timeout", "600"]
    done = subprocess.run(argv, env=machine.variables, cwd=machine.folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 128 + number, done.stderr
    assert done.stderr.strip() in ("", "tfdoctor: interrupted")
    left = [p for p in psutil.process_iter(["environ"]) if str(tmp_path) in str(p.info["environ"])]
    _gone, alive = psutil.wait_procs(left, timeout=30)
    assert alive == []
