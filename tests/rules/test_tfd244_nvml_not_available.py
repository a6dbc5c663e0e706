"""TFD244 nvml-not-available: sick, healthy, and at the boundary."""

from __future__ import annotations

from typing import Any

import facts
import pytest

from tfdoctor.model import Severity
from tfdoctor.rules.driver.tfd244_nvml_not_available import nvml_not_available as rule

NONE = facts.nvml(state="library-missing", code=12, error="libnvidia-ml.so.1: cannot open shared object file")
NEW = facts.tensorflow(version="2.21.0")


def given(*changes: Any) -> tuple[Any, ...]:
    kinds = {type(change) for change in changes}
    usual = (facts.gpu_machine(), NEW, NONE, facts.cuda_driver())
    return (*changes, *(fact for fact in usual if type(fact) not in kinds))


def test_sick() -> None:
    found = facts.found(rule, *given())
    assert found.severity is None
    assert "TensorFlow 2.21.0 needs NVML" in found.message and "libnvidia-ml.so.1" in found.message


def test_a_container_with_the_cuda_part_alone() -> None:
    asked = facts.environment(NVIDIA_DRIVER_CAPABILITIES="compute")
    found = facts.found(rule, *given(asked, facts.container(kind="docker")))
    assert "NVIDIA_DRIVER_CAPABILITIES=compute,utility" in found.fixes[0].commands[0]
    assert "NVIDIA_DRIVER_CAPABILITIES=compute" in [e.says for e in found.evidence]


@pytest.mark.parametrize(("version", "needs"), [("2.20.0", False), ("2.21.0rc0", True), ("2.22.0.dev20261101", True)])
def test_which_releases_need_it(version: str, needs: bool) -> None:
    assert facts.silent(rule, *given(facts.tensorflow(version=version))) is not needs


def test_one_that_is_only_slow_may_come_up() -> None:
    slow = facts.nvml(state="timed-out", code=None, error="NVML did not answer within 20 s")
    assert facts.found(rule, *given(slow)).severity is Severity.WARNING


def test_healthy() -> None:
    assert facts.silent(rule, *given(facts.nvml()))


def test_where_cuda_does_not_start_either_that_is_the_fault() -> None:
    assert facts.silent(rule, *given(facts.cuda_fails()))
    assert facts.silent(rule, facts.gpu_machine(), NEW, NONE)
