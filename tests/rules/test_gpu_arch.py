"""TFD518 to TFD521: what a GPU finds in a build, and which of the four it is."""

from __future__ import annotations

from typing import Any, Optional

import facts
import pytest

from tfdoctor.model import Severity, Status
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow import (
    tfd518_gpu_compute_capability_too_low as tfd518,
)
from tfdoctor.rules.tensorflow import (
    tfd519_gpu_arch_not_in_build_old as tfd519,
)
from tfdoctor.rules.tensorflow import (
    tfd520_gpu_arch_newer_than_build as tfd520,
)
from tfdoctor.rules.tensorflow import (
    tfd521_gpu_arch_ptx_jit_slow_start as tfd521,
)
from tfdoctor.rules.tensorflow._arch import Fit, fit

TOO_LOW = tfd518.gpu_compute_capability_too_low
NOT_IN_BUILD = tfd519.gpu_arch_not_in_build_old
NEWER = tfd520.gpu_arch_newer_than_build
SLOW_START = tfd521.gpu_arch_ptx_jit_slow_start
RULES = (TOO_LOW, NOT_IN_BUILD, NEWER, SLOW_START)


def which(capability: Optional[str], tensorflow: TensorFlow) -> list[str]:
    """The codes of the four rules that fire for one GPU."""
    given = (facts.gpu_machine(), tensorflow, facts.gpus(facts.gpu(compute_capability=capability)))
    return [rule.code for rule in RULES if facts.run(rule, *given).diagnoses]


@pytest.mark.parametrize(
    ("capability", "release", "code"),
    [
        ("3.0", "2.4.1", "TFD518"), ("3.5", "2.4.1", None), ("3.7", "2.14.1", None), ("3.7", "2.15.1", "TFD518"),
        ("5.2", "2.16.1", None), ("5.2", "2.17.0", "TFD518"), ("6.1", "2.20.0", None), ("5.0", "2.3.0", "TFD519"),
        ("5.2", "2.3.0", None), ("7.5", "2.3.0", None), ("7.0", "2.20.0", None), ("7.5", "2.20.0", None), ("8.6", "2.10.1", None),
        ("8.9", "2.20.0", None), ("9.0", "2.15.1", "TFD521"), ("9.0", "2.20.0", None), ("12.0", "2.20.0", "TFD521"),
        ("10.0", "2.21.0", "TFD521"), ("12.0", "2.10.1", "TFD521"), ("8.6", "2.3.4", "TFD521"), ("2.1", "2.0.0", "TFD518"),
    ],
)  # fmt: skip
def test_official_wheels(capability: str, release: str, code: Optional[str]) -> None:
    assert which(capability, facts.tensorflow_release(release)) == ([code] if code else [])


@pytest.mark.parametrize(
    ("capability", "built", "code"),
    [
        ("6.1", ("sm_70",), "TFD519"), ("12.0", ("sm_80", "sm_90"), "TFD520"), ("12.0", ("sm_80", "compute_90"), "TFD521"),
        ("8.0", ("sm_86",), "TFD519"), ("12.0", ("sm_120a",), None), ("8.7", ("sm_80",), None), ("7.5", ("sm_60", "sm_80"), "TFD519"),
    ],
)  # fmt: skip
def test_special_builds(capability: str, built: tuple[str, ...], code: Optional[str]) -> None:
    assert which(capability, facts.tensorflow(compute_capabilities=built)) == ([code] if code else [])


def _found(rule: Any, capability: str, tensorflow: TensorFlow) -> Any:
    return facts.found(rule, facts.gpu_machine(), tensorflow, facts.gpus(facts.gpu(compute_capability=capability)))


def test_messages_name_both_sides() -> None:
    low = _found(TOO_LOW, "3.7", facts.tensorflow_release("2.20.0"))
    assert "6.0" in low.message and "3.7" in low.message and "2.14.1" in low.fixes[0].title
    gap = _found(NOT_IN_BUILD, "5.0", facts.tensorflow_release("2.3.0"))
    assert "sm_52" in gap.message and "5.0" in gap.message and "2.4.0" in gap.fixes[0].title
    newer = _found(NEWER, "12.0", facts.tensorflow(compute_capabilities=("sm_80", "sm_90")))
    assert "9.0" in newer.message and "12.0" in newer.message
    slow = _found(SLOW_START, "9.0", facts.tensorflow_release("2.15.1"))
    assert "2.15.1" in slow.message and "9.0" in slow.message and slow.severity is None


def test_a_build_for_one_gpu_is_replaced_by_the_official_one() -> None:
    found = _found(NOT_IN_BUILD, "6.1", facts.tensorflow(compute_capabilities=("sm_70",)))
    assert found.fixes[0].commands[0][-1] == "tensorflow==2.20.0"


def test_one_of_two_gpus() -> None:
    two = facts.gpus(facts.gpu(0), facts.gpu(1, name="Tesla K80", compute_capability="3.7"))
    found = facts.found(TOO_LOW, facts.gpu_machine(), facts.tensorflow(), two)
    assert found.gpus == (1,) and found.severity is None and "Tesla K80" in found.message


def test_an_old_card_for_the_screen_is_only_mentioned() -> None:
    two = facts.gpus(facts.gpu(0), facts.gpu(1, name="GeForce GT 710", compute_capability="3.5", display=True))
    found = facts.found(TOO_LOW, facts.gpu_machine(), facts.tensorflow(), two)
    assert found.severity is Severity.INFO
    assert facts.WORKSTATION.but(two).codes(TOO_LOW) == {"TFD518": None}


def test_a_cache_that_is_off_makes_it_a_warning() -> None:
    given = (facts.gpu_machine(), facts.tensorflow_release("2.15.1"), facts.gpus(facts.gpu(compute_capability="9.0")))
    found = facts.found(SLOW_START, *given, facts.environment(CUDA_CACHE_DISABLE="1"))
    assert found.severity is Severity.WARNING and found.fixes[0].environment == (("CUDA_CACHE_DISABLE", None),)


def test_a_build_that_does_not_say() -> None:
    silent = facts.tensorflow(version="2.22.0", compute_capabilities=())
    assert which("8.6", silent) == []
    assert which("7.0", facts.tensorflow_release("2.1.0")) == []
    given = (facts.gpu_machine(), silent, facts.gpus(facts.gpu(compute_capability="5.2")))
    assert {facts.run(rule, *given).status for rule in RULES} == {Status.SKIPPED}


def test_unknown_capability_says_nothing() -> None:
    assert which(None, facts.tensorflow()) == []


def test_rests_without_a_gpu() -> None:
    rests = {GpuMachine: "no NVIDIA GPU on this machine"}
    assert all(facts.silent(rule, facts.tensorflow(), facts.gpus(), rests=rests) for rule in RULES)


@pytest.mark.parametrize(
    ("capability", "built", "expected"),
    [
        ("8.6", ("sm_80",), Fit.BINARY), ("8.0", ("sm_86",), Fit.BELOW), ("9.0", ("compute_80",), Fit.PTX),
        ("12.0", ("sm_90",), Fit.GAP), ("7.0", ("compute_70",), Fit.BINARY), ("5.0", ("sm_35", "sm_52"), Fit.GAP),
    ],
)  # fmt: skip
def test_the_arithmetic(capability: str, built: tuple[str, ...], expected: Fit) -> None:
    assert fit(capability, built) is expected
