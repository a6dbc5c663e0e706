"""Children hang, flood, ignore signals and leave children of their own; we always come back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tfdoctor.children import MOST_OUTPUT, Children, Promise


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_output_and_exit_code() -> None:
    done = Children().run(python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), timeout=60)
    assert done is not None
    assert (done.stdout.strip(), done.stderr.strip(), done.code, done.timed_out) == ("out", "err", 3, False)


def test_input_reaches_the_child() -> None:
    done = Children().run(python("print(input())"), timeout=60, stdin=b"hello\n")
    assert done is not None
    assert done.stdout.strip() == "hello"


def test_a_missing_program_is_none() -> None:
    assert Children().run(["no-such-program-anywhere"], timeout=1) is None


def test_a_signal_is_a_negative_code() -> None:
    done = Children().run(python("import os; os.abort()"), timeout=60)
    assert done is not None
    assert done.code == -6


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(1000)",
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)",
    ],
)
def test_one_that_hangs_is_killed_at_its_limit(code: str) -> None:
    done = Children().run(python(code), timeout=0.5)
    assert done is not None
    assert done.timed_out


def test_a_flood_ends_early_and_is_cut() -> None:
    flood = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    done = Children().run(python(flood), timeout=120)
    assert done is not None
    assert done.truncated
    assert not done.timed_out
    assert len(done.stdout) == MOST_OUTPUT


def test_a_grandchild_dies_too_even_in_a_session_of_its_own(tmp_path) -> None:
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'], start_new_session=True)\n"
        f"open({str(note)!r}, 'w').write(str(p.pid))\n"
        "time.sleep(1000)\n"
    )
    Children().run(python(code), timeout=3)
    pid = int(note.read_text())
    deadline = time.monotonic() + 30
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_child_that_leaves_its_pipe_to_a_grandchild_does_not_hold_us() -> None:
    code = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\n"
        "print('done')\n"
    )
    done = Children().run(python(code), timeout=60)
    assert done is not None
    assert (done.stdout.strip(), done.code, done.timed_out) == ("done", 0, False)


def test_close_ends_what_is_running() -> None:
    children = Children()
    promise = Promise("sleeper", lambda: children.run(python("import time; time.sleep(1000)"), timeout=600))
    while not children._running:
        time.sleep(0.01)
    children.close()
    assert promise.result() is not None


def test_nothing_starts_behind_the_back_of_close() -> None:
    children = Children()
    children.close()
    with pytest.raises(OSError, match="cancel"):
        children.run(python("pass"), timeout=60)


def test_the_end_of_the_program_ends_its_children() -> None:
    """A thread of ours waits for it, and nobody called `close`."""
    code = (
        "import sys, time\n"
        "from tfdoctor.children import Children, Promise\n"
        "children = Children()\n"
        "Promise('sleeper', lambda: children.run([sys.executable, '-c', 'import time; time.sleep(1000)'], timeout=600))\n"
        "while not children._running:\n"
        "    time.sleep(0.01)\n"
        "print(next(iter(children._running)).pid)\n"
    )
    done = Children().run(python(code), timeout=60)
    assert done is not None and done.code == 0, done
    assert not psutil.pid_exists(int(done.stdout)) or psutil.Process(int(done.stdout)).status() == psutil.STATUS_ZOMBIE


def gone(pids: list[int]) -> bool:
    """Within a while, none of these processes runs any more."""
    _gone, alive = psutil.wait_procs([psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)], timeout=30)
    return all(process.status() == psutil.STATUS_ZOMBIE for process in alive)


# Sleeps in a child of its own that sleeps too; writes both numbers into the file argv[1].
SLEEPER = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
open(sys.argv[1], "w").write(f"{os.getpid()} {child.pid}.")
time.sleep(1000)
"""
# Runs the program argv[2:] with what it inherits, and waits.
PARENT = """
import sys, time
from tfdoctor.children import Children, Promise
children = Children()
children.run([sys.executable, "-c", "pass"], timeout=60)  # one that is over
Promise("sleeper", lambda: children.run(sys.argv[2:], timeout=600, inherit=eval(sys.argv[1])))
time.sleep(1000)
"""


def killed_beside_a_child(folder: Path, inherit: str) -> list[int]:
    """Kill a program (SIGKILL) while a child of it sleeps; the numbers of that child and of the child's child."""
    note = folder / "pids"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, inherit, *python(SLEEPER), str(note)])
    deadline = time.monotonic() + 60
    while not (note.exists() and note.read_text().endswith(".")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    parent.kill()
    parent.wait(30)
    return [int(pid) for pid in note.read_text().rstrip(".").split()]


@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_the_children_of_a_killed_program_are_gone_soon(tmp_path: Path) -> None:
    assert gone(killed_beside_a_child(tmp_path, inherit="()"))


@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_one_that_inherits_a_lock_goes_on(tmp_path: Path) -> None:
    """An installer that was left alone finishes its work."""
    pids = killed_beside_a_child(tmp_path, inherit="[0]")
    time.sleep(0.3)
    alive = [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    assert alive == pids


def test_a_promise_hands_on_the_error() -> None:
    def fails() -> None:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        Promise("x", fails).result()


def test_nothing_of_ours_is_left() -> None:
    Children().run(python("pass"), timeout=60)
    assert not [c for c in psutil.Process(os.getpid()).children() if c.status() == psutil.STATUS_ZOMBIE]
