"""TFD521 gpu-arch-ptx-jit-slow-start: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest
from arch_faults import found, which

from tfdoctor.model import Severity
from tfdoctor.rules.tensorflow.tfd521_gpu_arch_ptx_jit_slow_start import gpu_arch_ptx_jit_slow_start as rule


def test_newer_than_the_build() -> None:
    assert which("9.0", facts.tensorflow_release("2.15.1")) == ["TFD521"]


@pytest.mark.parametrize(("capability", "release"), [("12.0", "2.20.0"), ("12.0", "2.10.1"), ("8.6", "2.3.4")])
def test_newer_than_its_cuda_as_well_has_a_diagnosis_of_its_own(capability: str, release: str) -> None:
    assert which(capability, facts.tensorflow_release(release)) == ["TFD520"]


def test_says_so_and_is_only_good_to_know() -> None:
    slow = found(rule, "9.0", facts.tensorflow_release("2.15.1"))
    assert "2.15.1" in slow.message and "9.0" in slow.message and slow.severity is None
    assert rule.severity is Severity.INFO and slow.fixes[0].environment[0][0] == "CUDA_CACHE_MAXSIZE"


def test_a_cache_that_is_off_makes_it_a_warning() -> None:
    given = (facts.gpu_machine(), facts.tensorflow_release("2.15.1"), facts.gpus(facts.gpu(compute_capability="9.0")))
    slow = facts.found(rule, *given, facts.environment(CUDA_CACHE_DISABLE="1"))
    assert slow.severity is Severity.WARNING and slow.fixes[0].environment == (("CUDA_CACHE_DISABLE", None),)


def test_healthy() -> None:
    assert which("9.0", facts.tensorflow_release("2.16.2")) == []
    assert which("8.6", facts.tensorflow_release("2.20.0")) == []
