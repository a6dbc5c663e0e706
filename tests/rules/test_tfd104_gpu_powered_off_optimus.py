"""TFD104 gpu-powered-off-optimus: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.hardware.tfd104_gpu_powered_off_optimus import gpu_powered_off_optimus as rule

INTEL = facts.pci_device(address="0000:00:02.0", vendor="8086", device="46a6", driver="i915")
NOT_LOADED = facts.kernel_driver(loaded_version="", modules=frozenset({"i915"}))
DOWN = facts.nvml(state="driver-not-loaded", code=9, error="Driver Not Loaded")


def laptop(*changed: object) -> facts.Machine:
    return facts.WORKSTATION.but(facts.pci(facts.pci_device(dead=True), INTEL), NOT_LOADED, DOWN, *changed)


def test_sick() -> None:
    diagnosis = laptop().found(rule)
    assert "0000:01:00.0" in diagnosis.message and "hybrid" in diagnosis.message


def test_bbswitch_is_named() -> None:
    off = facts.kernel_driver(loaded_version="", modules=frozenset({"i915", "bbswitch"}))
    assert "bbswitch" in laptop(off).found(rule).message


def test_fallen_off_the_bus_is_another_fault() -> None:
    assert laptop(facts.kernel_log(facts.xid(79))).silent(rule)


def test_desktop_without_another_gpu() -> None:
    assert laptop(facts.pci(facts.pci_device(dead=True))).silent(rule)


def test_healthy() -> None:
    assert facts.WORKSTATION.silent(rule)
