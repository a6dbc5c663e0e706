"""TFD519 gpu-arch-not-in-build-old: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest
from arch_faults import found, which

from tfdoctor.model import Status
from tfdoctor.rules.tensorflow.tfd519_gpu_arch_not_in_build_old import gpu_arch_not_in_build_old as rule


@pytest.mark.parametrize(
    ("capability", "built"),
    [("6.1", ("sm_70",)), ("8.0", ("sm_86",)), ("7.5", ("sm_60", "sm_80")), ("5.0", ("sm_35", "sm_52", "sm_61"))],
)
def test_special_builds(capability: str, built: tuple[str, ...]) -> None:
    assert which(capability, facts.tensorflow(version="2.14.1", compute_capabilities=built)) == ["TFD519"]


def test_the_gap_of_2_3() -> None:
    gap = found(rule, "5.0", facts.tensorflow_release("2.3.0"))
    assert "sm_52" in gap.message and "5.0" in gap.message and "2.4.0" in gap.fixes[0].title


def test_a_build_for_one_gpu_is_replaced_by_the_official_one() -> None:
    special = found(rule, "6.1", facts.tensorflow(compute_capabilities=("sm_70",)))
    assert special.fixes[0].commands[0][-1] == "tensorflow==2.20.0"


def test_healthy() -> None:
    assert which("8.7", facts.tensorflow(compute_capabilities=("sm_80",))) == []
    assert which("5.2", facts.tensorflow_release("2.3.0")) == []


def test_one_of_two_gpus() -> None:
    two = facts.gpus(facts.gpu(0, compute_capability="7.0"), facts.gpu(1, compute_capability="6.1"))
    special = facts.found(rule, facts.gpu_machine(), facts.tensorflow(compute_capabilities=("sm_70",)), two)
    assert special.gpus == (1,)


def test_a_capability_that_nobody_told_is_not_passed_over() -> None:
    given = (facts.gpu_machine(), facts.tensorflow(), facts.gpus(facts.gpu(), facts.gpu(1, compute_capability=None)))
    assert facts.run(rule, *given).status is Status.SKIPPED
