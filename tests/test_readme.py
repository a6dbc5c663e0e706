"""The README's two commands in a fresh clone. Slow (it installs everything twice and runs the whole suite inside), so only
with TFDOCTOR_SLOW=1, which the suite inside is not given: it never runs itself.

    TFDOCTOR_SLOW=1 python -m pytest tests/test_readme.py
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import composite
import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^```\n(python3 -m venv \.venv .*)\n```$", README, re.M)
slow = pytest.mark.skipif(not os.environ.get("TFDOCTOR_SLOW"), reason="slow: TFDOCTOR_SLOW=1 runs it")


def test_there_are_two_commands() -> None:
    run, check = COMMANDS
    assert run.endswith("tfdoctor check") and "pytest" in check


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None or not (REPOSITORY / ".git").exists():
        pytest.skip("this is not a git checkout")
    folder = tmp_path_factory.mktemp("fresh") / "tfdoctor"
    subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(folder)], check=True, timeout=120)
    return folder


def in_clone(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    env = {
        k: v
        for k, v in os.environ.items()
        if k not in ("TFDOCTOR_SLOW", "VIRTUAL_ENV", "PYTHONPATH", "PYTEST_CURRENT_TEST")
    }
    inner = os.environ.get("TFDOCTOR_SLOW_TESTS")  # fewer tests inside, to try this test itself
    if inner:
        env["PYTEST_ADDOPTS"] = inner
    shutil.rmtree(folder / ".venv", ignore_errors=True)
    return subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=3600)


@slow
def test_the_first_command_answers(clone: Path) -> None:
    done = in_clone(clone, COMMANDS[0])
    assert done.returncode in (0, 1), done.stderr
    assert re.search(r"^Will TensorFlow use the GPUs\?  (YES|NO|UNKNOWN)$", done.stdout, re.M)
    assert (clone / ".venv").is_dir() and "Traceback" not in done.stderr
    for arguments in ("schema", "report --html page.html", "explain TFD203", "compat", "completion bash"):
        other = subprocess.run(
            [".venv/bin/tfdoctor", *arguments.split()], cwd=clone, capture_output=True, text=True, timeout=120
        )
        assert other.returncode == 0, (arguments, other.stderr)


@slow
def test_the_second_command_passes(clone: Path) -> None:
    done = in_clone(clone, COMMANDS[1])
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@slow
def test_the_action_installs_itself(clone: Path, tmp_path: Path) -> None:
    """From the clone, as GitHub's runner would have it; the second run finds it installed."""
    for _time in range(2):
        ran = composite.run(clone / "action.yml", tmp_path, {"python": sys.executable, "fail-on": "never"})
        assert ran.code == 0, ran.output
        assert ran.outputs["exit-code"] == "0" and (tmp_path / "tfdoctor-results" / "tfdoctor.sarif").is_file()
