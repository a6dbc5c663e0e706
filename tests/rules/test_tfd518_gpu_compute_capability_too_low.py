"""TFD518 gpu-compute-capability-too-low: sick, healthy, and at the boundary."""

from __future__ import annotations

from typing import Optional

import facts
import pytest
from arch_faults import RULES, found, which

from tfdoctor.model import Severity, Status
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.rules.tensorflow._arch import Fit, fit
from tfdoctor.rules.tensorflow.tfd518_gpu_compute_capability_too_low import gpu_compute_capability_too_low as rule


@pytest.mark.parametrize(
    ("capability", "release"),
    [("3.0", "2.4.1"), ("3.7", "2.15.1"), ("5.2", "2.17.0"), ("3.7", "2.20.0"), ("2.1", "2.0.0")],
)  # fmt: skip
def test_below_all_that_the_wheel_has(capability: str, release: str) -> None:
    assert which(capability, facts.tensorflow_release(release)) == ["TFD518"]


@pytest.mark.parametrize(
    ("capability", "release"),
    [("3.5", "2.4.1"), ("3.7", "2.14.1"), ("5.2", "2.16.1"), ("6.1", "2.20.0"), ("7.0", "2.20.0"), ("7.5", "2.20.0"),
     ("7.5", "2.3.0"), ("8.6", "2.10.1"), ("8.9", "2.20.0"), ("9.0", "2.20.0"), ("5.2", "2.3.0")],
)  # fmt: skip
def test_gpus_that_the_wheel_runs(capability: str, release: str) -> None:
    assert which(capability, facts.tensorflow_release(release)) == []


def test_names_both_sides_and_the_last_release() -> None:
    low = found(rule, "3.7", facts.tensorflow_release("2.20.0"))
    assert "6.0" in low.message and "3.7" in low.message and "2.14.1" in low.fixes[0].title
    assert "no TensorFlow 2 has code" in found(rule, "3.0", facts.tensorflow()).fixes[0].title


def test_one_of_two_gpus() -> None:
    two = facts.gpus(facts.gpu(0), facts.gpu(1, name="Tesla K80", compute_capability="3.7"))
    low = facts.found(rule, facts.gpu_machine(), facts.tensorflow(), two)
    assert low.gpus == (1,) and low.severity is None and "Tesla K80" in low.message


def test_an_old_card_for_the_screen_is_only_mentioned() -> None:
    two = facts.gpus(facts.gpu(0), facts.gpu(1, name="GeForce GT 710", compute_capability="3.5", display=True))
    low = facts.found(rule, facts.gpu_machine(), facts.tensorflow(), two)
    assert low.severity is Severity.INFO


def test_a_build_that_does_not_say_is_judged_by_its_neighbours() -> None:
    silent = facts.tensorflow(version="2.22.0", compute_capabilities=())
    assert which("8.6", silent) == []
    assert which("7.0", facts.tensorflow_release("2.1.0")) == []
    given = (facts.gpu_machine(), silent, facts.gpus(facts.gpu(compute_capability="5.2")))
    assert {facts.run(one, *given).status for one in RULES} == {Status.SKIPPED}


def test_unknown_capability_says_nothing() -> None:
    assert which(None, facts.tensorflow()) == []


def test_rests_without_a_gpu() -> None:
    rests = {GpuMachine: "no NVIDIA GPU on this machine"}
    assert facts.silent(rule, facts.tensorflow(), facts.gpus(), rests=rests)


@pytest.mark.parametrize(
    ("capability", "built", "expected"),
    [
        ("8.6", ("sm_80",), Fit.BINARY), ("8.0", ("sm_86",), Fit.BELOW), ("9.0", ("compute_80",), Fit.PTX),
        ("12.0", ("sm_90",), Fit.GAP), ("7.0", ("compute_70",), Fit.BINARY), ("5.0", ("sm_35", "sm_52"), Fit.GAP),
        ("12.1", ("sm_120a",), Fit.BINARY), ("10.0", ("sm_90", "compute_90"), Fit.PTX),
    ],
)  # fmt: skip
def test_the_arithmetic(capability: str, built: tuple[str, ...], expected: Optional[Fit]) -> None:
    assert fit(capability, built) is expected


def test_a_capability_that_nobody_told_is_not_passed_over() -> None:
    given = (facts.gpu_machine(), facts.tensorflow(), facts.gpus(facts.gpu(), facts.gpu(1, compute_capability=None)))
    assert facts.run(rule, *given).status is Status.SKIPPED
