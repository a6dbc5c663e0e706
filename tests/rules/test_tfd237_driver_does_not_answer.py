"""TFD237 driver-does-not-answer: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Status
from tfdoctor.rules.driver.tfd237_driver_does_not_answer import driver_does_not_answer as rule


def test_timed_out() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), facts.nvml(state="timed-out", code=None))
    assert "did not answer" in diagnosis.message


def test_crashed() -> None:
    assert "crashed" in facts.found(rule, facts.gpu_machine(), facts.nvml(state="crashed", code=None)).message


def test_nvidia_smi_alone() -> None:
    assert (
        "nvidia-smi" in facts.found(rule, facts.gpu_machine(), facts.nvidia_smi(problem="timed-out", code=124)).message
    )


def test_contradiction_is_unknown() -> None:
    outcome = facts.run(rule, facts.gpu_machine(), facts.nvml(state="crashed"), facts.nvidia_smi())
    assert outcome.status is Status.SKIPPED


def test_healthy() -> None:
    assert facts.WORKSTATION.silent(rule)
    assert facts.silent(rule, facts.gpu_machine(), facts.nvml(state="driver-not-loaded", code=9))
