"""Every way in which a smoke test can end, planted in the child: it ends in time, is named, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from pathlib import Path

import facts
import psutil
import pytest
import scripted
from hypothesis import given
from hypothesis import strategies as st

from tfdoctor.children import Completed
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.rules.hardware.tfd125_gpu_computes_wrong_results import gpu_computes_wrong_results
from tfdoctor.rules.tensorflow.tfd524_smoke_test_failed import smoke_test_failed
from tfdoctor.smoke import workers
from tfdoctor.smoke.results import SmokeResult
from tfdoctor.smoke.runner import CHILD, Runner, read

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and process groups of POSIX")


def ran(tmp_path: Path, body: str, timeout: float = scripted.LIMIT) -> SmokeResult:
    """The result; afterwards no process runs and no file is new."""
    runner = scripted.runner(tmp_path, body)
    before = sorted(CHILD.parent.rglob("*")), sorted(tmp_path.rglob("*"))
    result = runner.run("devices", {}, timeout=timeout)
    assert scripted.left_over() == []
    assert (sorted(CHILD.parent.rglob("*")), sorted(tmp_path.rglob("*"))) == before
    return result


def diagnosed(result: SmokeResult) -> str:
    return facts.found(smoke_test_failed, SmokeResults((result,), (), (), "tfdoctor smoke")).message


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGILL", "SIGBUS"])
def test_a_signal(tmp_path: Path, name: str) -> None:
    result = ran(tmp_path, f"os.kill(os.getpid(), signal.{name})")
    assert result.state == "crashed" and name in result.detail
    assert name in diagnosed(result)


def test_killed_from_outside_points_to_memory(tmp_path: Path) -> None:
    result = ran(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    assert result.state == "crashed" and "memory runs out" in diagnosed(result)


def test_a_sudden_exit(tmp_path: Path) -> None:
    assert "exit code 3" in ran(tmp_path, "os._exit(3)").detail


def test_out_of_memory_on_the_device(tmp_path: Path) -> None:
    body = """
    class ResourceExhaustedError(Exception): pass
    raise ResourceExhaustedError("OOM when allocating tensor with shape[65536,65536]")
    """
    result = ran(tmp_path, body)
    assert result.state == "out-of-memory"
    assert "ran out of memory" in diagnosed(result)


def test_an_exception_is_named_with_its_first_line(tmp_path: Path) -> None:
    result = ran(tmp_path, 'raise ValueError("no such device\\nmore")')
    assert (result.state, result.detail) == ("failed", "ValueError: no such device")


def test_a_hang_ends_at_its_limit(tmp_path: Path) -> None:
    started = time.monotonic()
    body = 'pipe.write("TFDOCTOR " + json.dumps({"stage": "joining"}) + "\\n"); pipe.flush(); time.sleep(600)'
    result = ran(tmp_path, body, timeout=3)
    assert time.monotonic() - started < 30
    assert result.state == "hung"
    assert "hung" in diagnosed(result) and "3 s" in result.detail


def test_a_child_that_ignores_sigterm(tmp_path: Path) -> None:
    body = """
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(600)
    """
    assert ran(tmp_path, body, timeout=3).state == "hung"


def gone(number: int) -> bool:
    """Is the process dead soon? A kill is carried out when the kernel comes to it, not when it is sent."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if psutil.Process(number).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("end", ["os._exit(0)", "time.sleep(600)"])
def test_a_grandchild_in_a_session_of_its_own(tmp_path: Path, end: str) -> None:
    body = f"""
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sys.stderr.write("grandchild %d\\n" % sleeper.pid)
    sys.stderr.flush()
    {end}
    """
    result = ran(tmp_path, body, timeout=5)
    number = int(result.log.split("grandchild ")[1].split()[0])
    assert gone(number)
    assert result.state == ("crashed" if "exit" in end else "hung")


def test_rubbish_on_standard_output(tmp_path: Path) -> None:
    """Ours is found among it: half lines, broken JSON, JSON of another shape, bytes that are no text."""
    body = r"""
    os.write(1, b"\xff\xfe\0 rubbish\n" * 1000)
    for text in ("TFDOCTOR {broken\n", "TFDOCTOR [1, 2]\n", "TFDOCTOR 5\n", "TFDOCTOR \n", "a line without end "):
        pipe.write(text)
    passed(pipe)
    """
    result = ran(tmp_path, body)
    assert result.passed and result.tensorflow == "2.99.0" and result.importing == 0.5


def test_output_without_end(tmp_path: Path) -> None:
    result = ran(tmp_path, 'while True: pipe.write("y" * 65536 + "\\n")')
    assert result.state == "crashed" and "printed without end" in result.detail


def test_wrong_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in computes, and the hook changes what came out, as a broken device would."""
    monkeypatch.setenv("PYTHONPATH", str(scripted.stand_in(tmp_path)))
    monkeypatch.setenv("STAND_IN_GPUS", "1")
    path = tmp_path / "wrong.py"
    path.write_text(
        "def before(options, pipe): pass\n"
        "def after(options, found):\n    found['checks'][0].update(ok=False, error=3.5)\n    return found\n"
    )
    right = Runner(sys.executable).run("devices", {}, timeout=scripted.LIMIT)
    wrong = Runner(sys.executable, hook=str(path)).run("devices", {}, timeout=scripted.LIMIT)
    assert (right.state, wrong.state) == ("passed", "wrong"), (right, wrong)
    assert right.devices == ("GPU:0",) and not right.rehearsal
    said = facts.found(gpu_computes_wrong_results, SmokeResults((wrong,), (), (), "tfdoctor smoke"))
    assert "off by 3.5" in said.message


def test_no_interpreter(tmp_path: Path) -> None:
    assert Runner(str(tmp_path / "none")).run("devices", {}, timeout=5).state == "not-run"
    (tmp_path / "text").write_text("no program")
    assert Runner(str(tmp_path / "text")).run("devices", {}, timeout=5, name="x").state == "not-run"


LINES = st.one_of(
    st.text(),
    st.builds("TFDOCTOR {}".format, st.text()),
    st.sampled_from(
        [
            'TFDOCTOR {"result": 1}',
            'TFDOCTOR {"result": {"checks": [{}]}}',
            'TFDOCTOR {"result": {"checks": [], "devices": 5}}',
            'TFDOCTOR {"result": {"checks": [], "measured": 5, "devices": [1]}}',
            'TFDOCTOR {"failed": null}',
            'TFDOCTOR {"stage": {}}',
        ]
    ),
)


@given(st.lists(LINES), st.sampled_from([0, 1, -9, -11, -64, None]), st.booleans(), st.booleans())
def test_no_output_makes_reading_fail(lines: list[str], code: int, timed_out: bool, truncated: bool) -> None:
    done = Completed("\n".join(lines), "", code, timed_out, truncated)
    assert read("x", done, 1.0, {}).state in {
        "passed", "wrong", "failed", "out-of-memory", "crashed", "hung", "not-run",
    }  # fmt: skip


def test_a_worker_that_dies_ends_the_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others wait for it in vain; the crash is told, and no port stays open."""
    monkeypatch.setattr(workers, "GRACE", 1.0)
    ports: list[int] = []
    real = workers.free_ports
    monkeypatch.setattr(workers, "free_ports", lambda count: ports.extend(found := real(count)) or found)
    body = """
    cluster = json.loads(os.environ["TF_CONFIG"])
    if cluster["task"]["index"]:
        os.kill(os.getpid(), signal.SIGSEGV)
    import socket
    own = socket.create_server(("127.0.0.1", int(cluster["cluster"]["worker"][0].rpartition(":")[2])))
    time.sleep(600)
    """
    started = time.monotonic()
    result = workers.run_workers(scripted.runner(tmp_path, body), 2, gpus=[], timeout=scripted.LIMIT)
    assert result.state == "crashed" and signal.Signals.SIGSEGV.name in result.detail
    assert time.monotonic() - started < scripted.LIMIT
    assert scripted.left_over() == []
    for port in ports:
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()


def test_workers_share_the_gpus_out() -> None:
    assert workers._options([0, 1, 2], 0, 2)["devices"] == [0, 2]
    assert workers._options([0, 1, 2], 1, 2)["devices"] == [1]
    assert workers._options([0], 0, 2)["cpu"] is True
