"""TFD227 fabric-manager-version-mismatch: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd227_fabric_manager_version_mismatch import fabric_manager_version_mismatch as rule


def test_sick() -> None:
    machine = facts.H100_SERVER.but(facts.fabric(version="570.124.06-1", running=False))
    diagnosis = machine.found(rule)
    assert (
        "570.124.06" in diagnosis.message and "570.133.20" in diagnosis.message and "4 NVSwitches" in diagnosis.message
    )
    assert diagnosis.fixes[0].commands[0] == ("apt-get", "install", "nvidia-fabricmanager-570=570.133.20-*")


def test_it_has_done_its_work() -> None:
    assert facts.H100_SERVER.but(facts.fabric(version="570.124.06", running=True)).silent(rule)


def test_package_revision_is_no_difference() -> None:
    assert facts.H100_SERVER.but(facts.fabric(version="570.133.20-1", running=False)).silent(rule)


def test_not_installed_and_not_seen_are_other_matters() -> None:
    assert facts.H100_SERVER.but(facts.fabric(version="", running=False)).silent(rule)
    assert facts.H100_SERVER.but(facts.fabric(version=None, running=False)).silent(rule)


def test_healthy() -> None:
    assert facts.H100_SERVER.silent(rule)
    assert facts.WORKSTATION.silent(rule)
