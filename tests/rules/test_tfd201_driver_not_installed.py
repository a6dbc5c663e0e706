"""TFD201 driver-not-installed: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.rules.driver.tfd201_driver_not_installed import driver_not_installed as rule

BARE = (
    facts.nvml(state="library-missing", code=12, library_version=""),
    facts.kernel_driver(loaded_version="", modules=frozenset({"nouveau"}), flavour=""),
    facts.installed_driver(packages={}, libraries=(), library_versions=frozenset()),
    facts.kernel_module_file(path="", version="", signer=""),
)


def test_sick() -> None:
    diagnosis = facts.WORKSTATION.but(*BARE).found(rule)
    assert "0000:01:00.0" in diagnosis.message and "not installed" in diagnosis.message
    assert diagnosis.fixes[0].commands == (("ubuntu-drivers", "install"),)


def test_fix_by_distribution() -> None:
    fedora = facts.platform(distro="fedora", distro_like=())
    assert facts.WORKSTATION.but(*BARE, fedora).found(rule).fixes[0].commands[0][:2] == ("dnf", "install")


@pytest.mark.parametrize("machine", facts.MACHINES, ids=lambda m: m.name)
def test_healthy(machine: facts.Machine) -> None:
    assert machine.silent(rule)


def test_installed_but_broken_is_another_fault() -> None:
    assert facts.WORKSTATION.but(*BARE, facts.installed_driver()).silent(rule)


def test_a_container_cannot_tell() -> None:
    assert facts.WORKSTATION.but(*BARE, facts.container(kind="docker")).silent(rule)


def test_not_seen_is_not_absent() -> None:
    assert facts.WORKSTATION.but(*BARE[:2], without=(type(BARE[2]),)).silent(rule)


def test_windows() -> None:
    assert "nvml.dll" in facts.WORKSTATION.but(facts.windows(), BARE[0]).found(rule).evidence[0].says


@pytest.mark.parametrize(
    "there",
    [
        facts.installed_driver(libraries=(), library_versions=frozenset()),
        facts.installed_driver(packages={}),
        facts.kernel_module_file(),
        facts.jetson(),
    ],
)
def test_one_part_of_a_driver_is_enough(there: object) -> None:
    assert facts.WORKSTATION.but(*BARE, there).silent(rule)
