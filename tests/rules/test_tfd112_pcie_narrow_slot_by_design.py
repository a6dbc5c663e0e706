"""TFD112 pcie-narrow-slot-by-design: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.hardware.tfd112_pcie_narrow_slot_by_design import pcie_narrow_slot_by_design as rule


def at(width: int, slot: int) -> object:
    return facts.pci(facts.pci_device(link=facts.Link(4, width, 4, 16), upstream=(facts.Link(4, width, 4, slot),)))


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), at(4, 4), facts.gpus())
    assert "slot with 4 PCIe lanes" in diagnosis.message and "16" in diagnosis.message
    assert rule.severity is Severity.INFO


def test_degraded_beside_narrow_is_another_fault() -> None:
    assert facts.silent(rule, facts.gpu_machine(), at(4, 8))


def test_full_slot() -> None:
    assert facts.silent(rule, facts.gpu_machine(), at(16, 16))
