"""TFD212 driver-kernel-module-missing: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd212_driver_kernel_module_missing import driver_kernel_module_missing as rule

DOWN = facts.nvml(state="driver-not-loaded", code=9)
OUT = facts.kernel_driver(loaded_version="", modules=frozenset(), flavour="")


def without_module(**changes: object) -> facts.Machine:
    values = {"path": "", "version": "", "signer": "", **changes}
    return facts.WORKSTATION.but(DOWN, OUT, facts.kernel_module_file(**values))


def test_sick() -> None:
    diagnosis = without_module(other_kernels=("6.8.0-41-generic",)).found(rule)
    assert "6.8.0-45-generic" in diagnosis.message and "6.8.0-41-generic" in diagnosis.message
    assert diagnosis.fixes[0].commands[0] == ("apt-get", "install", "linux-headers-6.8.0-45-generic")


def test_headers_missing_is_said() -> None:
    assert "headers" in without_module(headers=False).found(rule).message


def test_nothing_installed_is_another_fault() -> None:
    bare = facts.installed_driver(packages={}, libraries=(), library_versions=frozenset())
    assert without_module().but(bare).silent(rule)


def test_healthy_and_containers() -> None:
    assert facts.WORKSTATION.silent(rule)
    assert without_module(other_kernels=("6.8.0-41-generic",)).but(facts.container(kind="lxc")).silent(rule)
    assert facts.WSL_LAPTOP.silent(rule)
