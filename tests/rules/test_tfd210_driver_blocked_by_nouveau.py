"""TFD210 driver-blocked-by-nouveau: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd210_driver_blocked_by_nouveau import driver_blocked_by_nouveau as rule

DOWN = facts.nvml(state="driver-not-loaded", code=9)
NOUVEAU = facts.kernel_driver(loaded_version="", modules=frozenset({"nouveau"}), flavour="")
HELD = facts.pci(facts.pci_device(driver="nouveau"))


def test_sick() -> None:
    diagnosis = facts.WORKSTATION.but(DOWN, NOUVEAU, HELD).found(rule)
    assert "nouveau" in diagnosis.message and "0000:01:00.0" in diagnosis.message


def test_folds_under_a_missing_driver() -> None:
    from tfdoctor.rules.driver.tfd201_driver_not_installed import driver_not_installed

    bare = facts.installed_driver(packages={}, libraries=(), library_versions=frozenset())
    machine = facts.WORKSTATION.but(DOWN, NOUVEAU, HELD, bare, facts.kernel_module_file(path="", version=""))
    assert machine.codes(rule, driver_not_installed) == {"TFD201": None, "TFD210": "TFD201"}


def test_loaded_for_another_card() -> None:
    assert facts.WORKSTATION.but(DOWN, NOUVEAU, facts.pci(facts.pci_device(driver="vfio-pci"))).silent(rule)


def test_healthy() -> None:
    assert facts.WORKSTATION.silent(rule)
    both = facts.kernel_driver(modules=frozenset({"nvidia", "nouveau"}))
    assert facts.WORKSTATION.but(both).silent(rule)
