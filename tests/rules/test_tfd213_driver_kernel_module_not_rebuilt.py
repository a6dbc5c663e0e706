"""TFD213 driver-kernel-module-not-rebuilt: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd213_driver_kernel_module_not_rebuilt import driver_kernel_module_not_rebuilt as rule

DOWN = facts.nvml(state="version-mismatch", code=18, library_version="550.120")
NEW = facts.installed_driver(library_versions=frozenset({"550.120"}))


def test_sick() -> None:
    diagnosis = facts.WORKSTATION.but(DOWN, NEW).found(rule)
    assert "550.107.02" in diagnosis.message and "550.120" in diagnosis.message


def test_interrupted_installation_is_said() -> None:
    new = facts.installed_driver(library_versions=frozenset({"550.120"}), unfinished=("nvidia-dkms-550",))
    assert "nvidia-dkms-550" in facts.WORKSTATION.but(DOWN, new).found(rule).message


def test_a_reboot_is_enough() -> None:
    assert facts.WORKSTATION.but(DOWN, NEW, facts.kernel_module_file(version="550.120")).silent(rule)


def test_not_told() -> None:
    assert facts.WORKSTATION.but(DOWN, NEW, facts.kernel_module_file(version="")).silent(rule)


def test_healthy() -> None:
    assert facts.WORKSTATION.silent(rule)
    assert facts.WORKSTATION.but(NEW).silent(rule)
