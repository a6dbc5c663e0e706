"""Whatever tfdoctor asks may be missing, fail, print rubbish, print without end, hang or crash. `check` still ends, says
what it could not look at, and never says "yes" over it."""

from __future__ import annotations

import time
from pathlib import Path

import fake_cuda
import fake_nvml
import psutil
import pytest
import whole_machine

LIMIT = "3"  # seconds for each outside program
SLACK = 120  # seconds in which every check must have ended, on a slow and busy machine

RUBBISH = r"import sys; sys.stdout.buffer.write(bytes(range(256)) * 50)"
FLOOD = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
HANG = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(1000)"
FAIL = "import sys; print('cannot', file=sys.stderr); sys.exit(1)"
CRASH = "import os; os.abort()"
SCRIPTS = {"rubbish": RUBBISH, "flood": FLOOD, "hang": HANG, "fail": FAIL, "crash": CRASH}


def timed(machine: whole_machine.Whole, *arguments: str, **variables: str):
    started = time.monotonic()
    report = machine.check("--timeout", LIMIT, *arguments, **variables)
    assert time.monotonic() - started < SLACK
    return report


def test_before_any_fault_the_verdict_is_yes(tmp_path: Path) -> None:
    report = timed(whole_machine.build(tmp_path))
    assert report["verdict"]["gpu"] == "yes", report["verdict"]
    assert [d for d in report["diagnoses"] if d["severity"] != "info"] == []
    assert report["crashed"] == []


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("program", ["nvidia-smi", "lspci", "dmesg", "modinfo", "rocm-smi"])
def test_a_program_beside_a_working_nvml_spoils_nothing(tmp_path: Path, program: str, script: str) -> None:
    machine = whole_machine.build(tmp_path)
    machine.program(program, SCRIPTS[script])
    report = timed(machine)
    assert report["verdict"]["gpu"] == "yes", report["verdict"]
    assert report["crashed"] == []


@pytest.mark.parametrize("script", SCRIPTS)
def test_nvidia_smi_when_nvml_is_gone(tmp_path: Path, script: str) -> None:
    machine = whole_machine.build(tmp_path, nvml=fake_nvml.init_fails(999))
    machine.program("nvidia-smi", SCRIPTS[script])
    report = timed(machine)
    assert report["verdict"]["gpu"] != "yes"
    assert report["crashed"] == []


@pytest.mark.parametrize("function", ["nvmlInitWithFlags", "nvmlDeviceGetCount_v2", "nvmlDeviceGetMemoryInfo_v2"])
@pytest.mark.parametrize("fault", [fake_nvml.hanging, fake_nvml.crashing])
def test_nvml_that_hangs_or_crashes(tmp_path: Path, function: str, fault) -> None:
    report = timed(whole_machine.build(tmp_path, nvml=fault(function, fake_nvml.gtx1080())))
    assert report["verdict"]["gpu"] != "yes"
    assert report["crashed"] == []
    assert report["diagnoses"] or report["skipped"]


@pytest.mark.parametrize("function", ["cuInit", "cuDeviceGetCount", "cuDeviceGetName"])
@pytest.mark.parametrize("fault", ["hang", "crash"])
def test_cuda_that_hangs_or_crashes(tmp_path: Path, function: str, fault: str) -> None:
    profile = fake_cuda.profile().but({f"{fault}.{function}": "any"})
    report = timed(whole_machine.build(tmp_path, cuda=profile))
    assert report["verdict"]["gpu"] == ("no" if fault == "crash" else "unknown"), report["verdict"]
    assert report["crashed"] == []


@pytest.mark.parametrize("code", [1, 2, 3, 34, 46, 100, 101, 304, 802, 803, 804, 999])
def test_cuda_that_does_not_start(tmp_path: Path, code: int) -> None:
    report = timed(whole_machine.build(tmp_path, cuda=fake_cuda.profile(init=code)))
    assert report["verdict"]["gpu"] == "no", report["verdict"]
    assert report["crashed"] == []


@pytest.mark.parametrize("code", [1, 2, 3, 4, 9, 12, 15, 17, 18, 999])
def test_nvml_that_does_not_come_up(tmp_path: Path, code: int) -> None:
    report = timed(whole_machine.build(tmp_path, nvml=fake_nvml.init_fails(code)))
    assert report["verdict"]["gpu"] != "yes"
    assert report["crashed"] == []


@pytest.mark.parametrize("script", ["rubbish", "flood", "fail"])
def test_an_interpreter_that_is_none_is_bad_input(tmp_path: Path, script: str) -> None:
    machine = whole_machine.build(tmp_path)
    machine.program("stranger", SCRIPTS[script])
    done = machine.run("check", "--timeout", LIMIT, "--python", str(machine.programs / "stranger"))
    if script == "flood":  # it was stopped and did not end by itself
        assert '"yes"' not in done.stdout
    else:
        assert done.returncode == 2
        assert str(machine.programs / "stranger") in done.stderr


@pytest.mark.parametrize("script", ["hang", "crash"])
def test_an_interpreter_that_hangs_or_crashes_is_a_finding(tmp_path: Path, script: str) -> None:
    machine = whole_machine.build(tmp_path)
    machine.program("stranger", SCRIPTS[script])
    report = timed(machine, "--python", str(machine.programs / "stranger"))
    assert report["verdict"]["gpu"] == "unknown"


@pytest.mark.parametrize("path", ["/sys", "/proc", "/dev", "/etc"])
def test_a_part_of_the_tree_is_missing(tmp_path: Path, path: str) -> None:
    gone = {k: None for k in whole_machine.trees.WORKSTATION if k.startswith(path + "/")}
    report = timed(whole_machine.build(tmp_path, tree=gone))
    assert report["crashed"] == []
    if path == "/proc":
        assert report["verdict"]["gpu"] != "yes"


def test_files_that_cannot_be_read_or_hold_rubbish(tmp_path: Path) -> None:
    texts = {k: bytes(range(256)) for k, v in whole_machine.trees.WORKSTATION.items() if v and not k.startswith("/dev")}
    report = timed(whole_machine.build(tmp_path, tree=texts))
    assert report["crashed"] == []


def test_no_process_is_left(tmp_path: Path) -> None:
    machine = whole_machine.build(tmp_path, nvml=fake_nvml.hanging("nvmlInitWithFlags"))
    machine.program("nvidia-smi", HANG)
    timed(machine)
    left = [p for p in psutil.process_iter(["environ"]) if str(tmp_path) in str(p.info["environ"])]
    deadline = time.monotonic() + 30
    while any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in left):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
