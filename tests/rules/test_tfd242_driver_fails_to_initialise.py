"""TFD242 driver-fails-to-initialise: sick, healthy, and at the boundary."""

from __future__ import annotations

from pathlib import Path

import facts
import pytest

from tfdoctor.checkup import facts_of
from tfdoctor.engine import all_rules, run_rules
from tfdoctor.host import RecordedHost
from tfdoctor.model import Severity, Status
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules.driver.tfd238_driver_not_loaded import driver_not_loaded
from tfdoctor.rules.driver.tfd242_driver_fails_to_initialise import driver_fails_to_initialise as rule
from tfdoctor.verdict import decide


def test_999_says_nothing_and_nobody_is_told_to_load_a_loaded_driver() -> None:
    down = facts.nvml(state="unknown", code=999, error="Unknown Error", library_version="")
    machine = facts.WORKSTATION.but(down, without=(Gpus,))
    found = machine.found(rule)
    assert found.severity is Severity.WARNING and "Unknown Error" in found.message
    assert not any("modprobe" in command for fix in found.fixes for command in fix.commands)
    assert decide(machine.outcomes(), machine.facts()).gpu == "unknown"
    assert machine.silent(driver_not_loaded) and machine.but(facts.cuda_driver()).silent(rule)


def test_no_permission_with_a_loaded_driver() -> None:
    machine = facts.WORKSTATION.but(facts.nvml(state="no-permission", code=4, error="no"), without=(Gpus,))
    assert machine.found(rule).severity is None
    assert decide(machine.outcomes(), machine.facts()).because == "driver-fails-to-initialise"


def test_it_answers_and_lists_none() -> None:
    assert "lists no GPU" in facts.WORKSTATION.but(Gpus((), "NVML")).found(rule).message


def test_every_gpu_is_lost() -> None:
    assert "lost every GPU (0)" in facts.WORKSTATION.but(facts.gpus(facts.gpu(lost=True))).found(rule).message


def test_one_of_two_is_lost_and_nobody_knows() -> None:
    machine = facts.TWO_3090.but(facts.gpus(facts.gpu(0), facts.gpu(1, lost=True)))
    assert facts.run(rule, *machine.given, rests=machine.rests).status is Status.SKIPPED


def test_cuda_was_tried_and_settles_it() -> None:
    lost = facts.TWO_3090.but(facts.gpus(facts.gpu(0), facts.gpu(1, lost=True)))
    assert lost.but(facts.cuda_driver()).silent(rule)
    assert lost.but(facts.cuda_fails(999)).silent(rule)


def test_the_module_is_loaded_and_its_libraries_are_missing() -> None:
    gone = facts.nvml(state="library-missing", code=12, error="NVML Shared Library Not Found", library_version="")
    machine = facts.WORKSTATION.but(gone, facts.driver_library(picked=None, how=""), without=(Gpus,))
    found = machine.found(rule)
    assert "550.107.02 is loaded" in found.message and "libcuda.so.1, libnvidia-ml.so.1" in found.message
    assert not any("modprobe" in command for fix in found.fixes for command in fix.commands)


@pytest.mark.parametrize("name", ["nvidia-smi.txt", "nvidia-smi-q.xml"])
@pytest.mark.parametrize(
    ("printed", "code", "gpu"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch", "TFD202", "no"),
        ("No devices were found", "TFD242", "no"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "TFD238", "no"),
        ("Unable to determine the device handle for GPU 0000:02:00.0: Unknown Error", "TFD242", "unknown"),
        ("Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.", "TFD103", "unknown"),
        ("Failed to initialize NVML: Unknown Error", "TFD242", "unknown"),
    ],
)
def test_a_recording_of_an_error_alone_names_the_cause(
    tmp_path: Path, name: str, printed: str, code: str, gpu: str
) -> None:
    (tmp_path / name).write_text(printed + "\n")
    seen = facts_of(RecordedHost(str(tmp_path)))
    outcomes = run_rules([r for r in all_rules() if not r.log_only], seen)
    assert code in [o.rule.code for o in outcomes if o.status is Status.FOUND and o.folded_under is None]
    assert decide(outcomes, seen).gpu == gpu


@pytest.mark.parametrize("machine", facts.MACHINES, ids=lambda m: m.name)
def test_healthy(machine: facts.Machine) -> None:
    assert machine.silent(rule)
