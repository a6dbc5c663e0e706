"""TFD205 wsl1-or-old-wsl-kernel: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.rules.driver.tfd205_wsl1_or_old_wsl_kernel import wsl1_or_old_wsl_kernel as rule


def test_wsl1() -> None:
    diagnosis = facts.found(rule, facts.wsl(version=1, kernel="4.4.0-19041-Microsoft", dxg=False))
    assert "WSL1" in diagnosis.message and "4.4.0-19041-Microsoft" in diagnosis.message


@pytest.mark.parametrize(
    ("kernel", "old"), [("4.19.104-microsoft-standard", True), ("4.19.121-microsoft-standard", False)]
)
def test_boundary(kernel: str, old: bool) -> None:
    given = facts.wsl(kernel=kernel, dxg=False)
    assert facts.silent(rule, given) is not old


def test_old_but_with_a_gpu() -> None:
    assert facts.silent(rule, facts.wsl(kernel="4.19.104-microsoft-standard", dxg=True))


def test_cpu_only_tensorflow_does_not_care() -> None:
    assert facts.silent(rule, facts.wsl(version=1, dxg=False), facts.tensorflow(cuda_build=False))


def test_healthy() -> None:
    assert facts.WSL_LAPTOP.silent(rule)
    assert facts.WORKSTATION.silent(rule)
