"""Plans for machines that cannot be here, from recordings, as they are printed: tests/snapshots/NAME.txt.

UPDATE_SNAPSHOTS=1 writes them anew; read what changed before you commit it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tfdoctor.checkup import examine
from tfdoctor.commands.fix import plan_of, rendered
from tfdoctor.fixes.plan import Plan
from tfdoctor.host import RecordedHost
from tfdoctor.model import Safety

HOSTS = Path(__file__).with_name("hosts")
SNAPSHOTS = Path(__file__).with_name("snapshots")
NAMES = sorted(path.name for path in HOSTS.iterdir() if path.is_dir())
#: One for each way a plan can come out: packages, two causes as one, a variable, by hand, nothing.
SHOWN = (
    "docker-rtx3090-without-gpus",
    "jetson-orin-tf2.16",
    "pip-freeze-tf2.10-protobuf4",
    "pip-freeze-tf2.15-keras3",
    "ubuntu-2xrtx3090-tf2.16.1-library-path",
    "ubuntu-cpu-only-tf2.21",
    "ubuntu-t4-driver470-tf2.17",
    "ubuntu-rtx3090-nouveau",
    "ubuntu-rtx3090-tf2.20-hidden",
    "ubuntu-rtx3090-tf2.21-library-path",
    "ubuntu-rtx3090-tf2.21-no-cuda-wheels",
    "ubuntu-v100-tf2.20-cudnn-dropped",
    "ubuntu-v100-tf2.21-cudnn-dropped",
    "windows-rtx2080-tf2.15",
    "wsl2-rtx3060-linux-driver-installed",
)


def plan(name: str) -> Plan:
    return plan_of(examine(RecordedHost(str(HOSTS / name))), live=False)


@pytest.fixture(autouse=True)
def shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")


@pytest.mark.parametrize("name", SHOWN)
def test_plan(name: str) -> None:
    text = rendered(plan(name), "text")
    snapshot = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        snapshot.parent.mkdir(exist_ok=True)
        snapshot.write_text(text)
    assert snapshot.is_file(), "UPDATE_SNAPSHOTS=1 writes it"
    assert text == snapshot.read_text()


def test_every_snapshot_is_compared() -> None:
    assert sorted(p.stem for p in SNAPSHOTS.glob("*.txt")) == sorted(SHOWN)


@pytest.mark.parametrize("name", NAMES)
def test_script(name: str, tmp_path: Path) -> None:
    """What bash and shellcheck say of it, and that nothing in it runs which needs a person."""
    made = plan(name)
    script = tmp_path / "fix.sh"
    script.write_text(rendered(made, "sh"))
    subprocess.run(["bash", "-n", str(script)], check=True)
    if shutil.which("shellcheck"):
        done = subprocess.run(["shellcheck", str(script)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
    lines = script.read_text().splitlines()
    runs = [line for line in lines if line and not line.startswith("#")]
    safe = [command for step in made.steps if step.safety is Safety.SAFE for command in step.commands]
    assert runs[0] == "set -euo pipefail"
    assert len(runs) == 1 + len(safe)


@pytest.mark.parametrize("name", NAMES)
def test_every_step_tells_what_must_be_known(name: str) -> None:
    made = plan(name)
    for step in made.steps:
        assert step.codes
        assert step.why
        assert step.title
        if step.kind != "manual":
            assert step.undo
            assert step.changes
        else:
            assert step.safety is Safety.MANUAL
    assert not made.codes & {code for code, _why in made.open}


def test_volta_beside_tensorflow_2_21_is_one_plan() -> None:
    """The release whose libraries are found, with the cuDNN that still has code for the GPU: two causes, one set."""
    made = plan("ubuntu-v100-tf2.21-cudnn-dropped")
    (step,) = made.steps
    assert {"TFD302", "TFD315"} <= set(step.codes)
    assert set(made.requirements) == {"tensorflow[and-cuda]==2.20.0", "nvidia-cudnn-cu12<9.11,>=9.3.0.75"}


def test_two_cards_with_2_16_1_move_one_patch() -> None:
    made = plan("ubuntu-2xrtx3090-tf2.16.1-library-path")
    assert made.requirements == ("tensorflow[and-cuda]==2.16.2",)
    assert made.steps[0].safety is Safety.SAFE


@pytest.mark.parametrize(
    "name", ["wsl2-rtx3060-linux-driver-installed", "windows-rtx2080-tf2.15", "jetson-orin-tf2.16"]
)
def test_what_only_a_person_can_do_is_never_run(name: str) -> None:
    made = plan(name)
    assert made.steps
    assert all(step.safety is Safety.MANUAL for step in made.steps)


def test_a_python_that_no_tensorflow_supports(tmp_path: Path) -> None:
    """Nothing is installed into it: another environment is what helps, and that is printed."""
    host = tmp_path / "host"
    shutil.copytree(HOSTS / "ubuntu-cpu-only-tf2.21", host)
    answer = json.loads((host / "target.json").read_text())
    answer["python"]["version"] = "3.99.0"
    answer["distributions"] = [d for d in answer["distributions"] if d["name"] == "pip"]
    answer["tensorflow"] = {"found": "", "kind": "", "real": False}
    (host / "target.json").write_text(json.dumps(answer))
    (host / "pip-freeze.txt").unlink(missing_ok=True)
    made = plan_of(examine(RecordedHost(str(host))), live=False)
    assert all(step.safety is Safety.MANUAL for step in made.steps)
    assert "TFD402" in made.codes
    assert any("3.99" in why for _code, why in made.open) or "TFD502" in made.codes
