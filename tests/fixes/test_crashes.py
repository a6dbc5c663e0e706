"""Killed at any moment, or without room or permission: nothing half-done, and a journal that undoes and resumes."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from wheelhouse import Env, wheel

# Ends the process after the Nth call of a function: the journal's `write` is each boundary between two steps.
KILLED = """
import importlib, os, signal, sys
left, module, name = int(sys.argv.pop(1)), importlib.import_module(sys.argv.pop(1)), sys.argv.pop(1)
function = getattr(module, name)
def and_die(*arguments):
    global left
    function(*arguments)
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
setattr(module, name, and_die)
from tfdoctor.cli import main
main(sys.argv[1:])
"""
STATES = ["recording", "applying", "applying", "applying"]  # made; kept; step 1 runs; step 1 done


def killed(env: Env, after: int, *options: str, at: tuple[str, str] = ("journal", "write")) -> None:
    module, name = at
    argv = [sys.executable, "-c", KILLED, str(after), f"tfdoctor.fixes.{module}", name, "fix", *(options or ["--yes"])]
    done = subprocess.run(
        [*argv, "--python", str(env.python)], env=env.variables, cwd=env.root, capture_output=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize("after", range(1, len(STATES) + 1))
def test_killed_at_a_boundary_then_undone(env: Env, after: int) -> None:
    before, frozen = env.listing(), env.freeze()
    killed(env, after)
    (record,) = env.journals()
    assert record["state"] == STATES[after - 1]
    undone = env.fix("--undo")
    assert undone.returncode == 0, undone.stderr
    assert (env.listing(), env.freeze()) == (before, frozen)


@pytest.mark.parametrize("after", [2, 4])
def test_killed_at_a_boundary_then_resumed(env: Env, after: int) -> None:
    killed(env, after)
    done = env.fix("--resume")
    assert done.returncode == 0, done.stderr
    assert "fixed: TFD509, TFD511" in done.stdout
    (record,) = env.journals()
    assert record["state"] == "done"
    assert "keras==2.15.0" in env.freeze()


def test_killed_while_undoing_again_and_again(env: Env) -> None:
    """At the first line of its journal, at each third of the files, and when all is back but not yet said so."""
    before, frozen = env.listing(), env.freeze()
    assert env.fix("--yes").returncode == 0
    killed(env, 1, "--undo")
    resumed = env.fix("--resume")
    assert resumed.returncode == 1
    assert "was being undone" in resumed.stderr
    (record,) = env.journals()
    killed(env, 4, "--undo", at=("snapshot", "_replace"))
    killed(env, 3, "--undo", at=("snapshot", "_keep"))
    killed(env, 1, "--undo", at=("snapshot", "differences"))
    undone = env.fix("--undo")
    assert undone.returncode == 0, undone.stderr
    assert (env.listing(), env.freeze()) == (before, frozen)
    killed(env, 2, "--undo", record["run"])
    again = env.fix("--undo", record["run"])
    assert again.returncode == 0, again.stderr
    assert env.listing() == before


def test_killed_while_resuming_again_and_again(env: Env) -> None:
    before, frozen = env.listing(), env.freeze()
    killed(env, 2)
    for after in (1, 2, 1):  # the step runs; it is done; there is only the end to be written
        killed(env, after, "--resume")
    undone = env.fix("--undo")
    assert undone.returncode == 0, undone.stderr
    assert (env.listing(), env.freeze()) == (before, frozen)


def test_a_run_that_never_began_is_not_resumed(env: Env) -> None:
    killed(env, 1)
    done = env.fix("--resume")
    assert done.returncode == 1
    assert "start again" in done.stderr


def started(env: Env) -> subprocess.Popen[bytes]:
    """A run that is inside its installer: pip's own files are being moved."""
    argv = [sys.executable, "-m", "tfdoctor", "fix", "--yes", "--python", str(env.python)]
    process = subprocess.Popen(argv, env=env.variables, cwd=env.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        if (
            any(e["state"] == "running" for j in env.journals() for e in j["entries"])
            and not (env.site / "keras-3.3.3.dist-info").exists()
        ):
            return process
        time.sleep(0.005)
    pytest.skip("the installer was too quick to be caught")


def slow(env: Env) -> None:
    """Make NumPy's wheel so large that its installation takes a while after Keras was replaced."""
    files = {f"numpy/part{n}.py": f"# {n}\n" * 200 for n in range(6000)}
    wheel(env.index, "numpy", "1.26.4", files)


@pytest.fixture
def slow_env(env: Env, tmp_path: Path) -> Env:
    index = tmp_path / "index"
    shutil.copytree(env.index, index)
    made = Env(env.root, index)
    slow(made)
    return made


def test_killed_inside_the_installer(slow_env: Env) -> None:
    """The installer goes on by itself; undo waits for its end."""
    before, frozen = slow_env.listing(), slow_env.freeze()
    process = started(slow_env)
    process.kill()
    process.communicate()
    undone = slow_env.fix("--undo")
    assert undone.returncode == 0, undone.stderr
    assert (slow_env.listing(), slow_env.freeze()) == (before, frozen)


def test_killed_inside_the_installer_then_resumed(slow_env: Env) -> None:
    process = started(slow_env)
    process.kill()
    process.communicate()
    done = slow_env.fix("--resume")
    assert done.returncode == 0, done.stderr
    assert {"keras==2.15.0", "numpy==1.26.4"} <= set(slow_env.freeze())


def test_ctrl_c_inside_the_installer(slow_env: Env) -> None:
    before, frozen = slow_env.listing(), slow_env.freeze()
    process = started(slow_env)
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"--undo" in err
    assert slow_env.fix("--undo").returncode == 0
    assert (slow_env.listing(), slow_env.freeze()) == (before, frozen)


def test_two_runs_at_once(slow_env: Env) -> None:
    process = started(slow_env)
    second = slow_env.fix("--yes", "--only", "TFD509")
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert second.returncode in (0, 1)  # 0: the first had just come to its end
    if second.returncode:
        assert "another run is at work" in second.stderr


def limited() -> None:
    """No file may become larger than this: the wheel of NumPy cannot be written out."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


def test_disk_full_while_installing(env: Env, tmp_path: Path) -> None:
    index = tmp_path / "index"
    shutil.copytree(env.index, index)
    wheel(index, "numpy", "1.26.4", {"numpy/__init__.py": "", "numpy/large.py": "#" * 400_000})
    full = Env(env.root, index)
    before, frozen = full.listing(), full.freeze()
    argv = [sys.executable, "-m", "tfdoctor", "fix", "--yes", "--python", str(full.python)]
    done = subprocess.run(
        argv, env=full.variables, cwd=full.root, capture_output=True, text=True, check=False, preexec_fn=limited
    )
    assert done.returncode == 1
    assert "Everything was put back" in done.stderr, done.stderr
    assert (full.listing(), full.freeze()) == (before, frozen)
    assert full.journals()[-1]["state"] == "undone"


def namespace(script: str, *, env: Env) -> subprocess.CompletedProcess[str]:
    """Run a script in a mount namespace of its own; skips where none can be made."""
    unshare = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"])]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("no mount namespaces here")
    return subprocess.run(
        [*unshare, "sh", "-euc", script], env=env.variables, capture_output=True, text=True, check=False, cwd="/"
    )


def test_read_only_environment(env: Env) -> None:
    before = env.listing()
    fix = f"{sys.executable} -m tfdoctor fix --python {env.python}"
    mount = f"mount --bind {env.root} {env.root}; mount -o remount,ro,bind {env.root}"
    done = namespace(f"{mount}; {fix} --dry-run && {fix} --yes", env=env)
    if "mount:" in done.stderr:
        pytest.skip("nothing can be mounted here")
    assert done.returncode == 1
    assert "nothing was changed" in done.stderr
    assert "cannot be written to" in done.stderr
    assert env.listing() == before
    assert not (env.root / ".tfdoctor").exists()


def test_a_dry_run_on_a_machine_that_cannot_be_written_to(env: Env, tmp_path: Path) -> None:
    """Every file system that is mounted is read-only."""
    fix = f"{sys.executable} -m tfdoctor fix --dry-run --python {env.python}"
    remount = (
        "mount --make-rprivate /; "
        "cut -d' ' -f5 /proc/self/mountinfo | grep -v -e '^/proc' -e '^/dev' | sort -u | "
        "while read place; do mount -o remount,ro,bind $place 2>/dev/null || true; done; "
        f"! touch {tmp_path}/x 2>/dev/null"
    )
    done = namespace(f"{remount}; {fix}", env=env)
    if done.returncode and not done.stdout:
        pytest.skip("nothing can be mounted here")
    assert done.returncode == 0, done.stderr
    assert "1. Install" in done.stdout


def test_a_full_disk_before_anything_was_done(env: Env, tmp_path: Path) -> None:
    """A file system that has no room for the journal."""
    fix = f"{sys.executable} -m tfdoctor fix --yes --python {env.python}"
    before = env.listing()
    place = env.root / ".tfdoctor"
    place.mkdir()
    script = f"mount -t tmpfs -o size=4k,nr_inodes=5 tfdoctor {place}; {fix}"
    done = namespace(script, env=env)
    if "mount:" in done.stderr:
        pytest.skip("nothing can be mounted here")
    assert done.returncode == 1
    assert "nothing was changed" in done.stderr
    assert env.listing() == before


def test_unwritable_by_permission(env: Env, tmp_path: Path) -> None:
    """As another user than the owner (root may write everywhere)."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become somebody else")
    before = env.listing()
    argv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-m", "tfdoctor"]
    reachable = subprocess.run([*argv, "--version"], capture_output=True, check=False, cwd="/")
    if reachable.returncode:
        pytest.skip("the interpreter cannot be reached by another user")
    done = subprocess.run(
        [*argv, "fix", "--yes", "--python", str(env.python)], capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.returncode != 0
    assert env.listing() == before
