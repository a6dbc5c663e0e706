"""TFD520 gpu-arch-newer-than-build: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest
from arch_faults import found, which

from tfdoctor.rules.tensorflow.tfd520_gpu_arch_newer_than_build import gpu_arch_newer_than_build as rule


def test_machine_code_alone() -> None:
    newer = found(rule, "12.0", facts.tensorflow(compute_capabilities=("sm_80", "sm_90")))
    assert "9.0" in newer.message and "12.0" in newer.message and "no PTX" in newer.message and newer.severity is None


@pytest.mark.parametrize("built", [("sm_80", "compute_90"), ("sm_120a",), ("compute_50",)])
def test_with_ptx_or_code_of_its_own(built: tuple[str, ...]) -> None:
    assert "TFD520" not in which("12.0", facts.tensorflow(compute_capabilities=built))


def test_official_wheels_hold_ptx() -> None:
    for version in ("2.10.1", "2.15.1", "2.20.0", "2.21.0"):
        assert which("12.0", facts.tensorflow_release(version)) == ["TFD521"]
