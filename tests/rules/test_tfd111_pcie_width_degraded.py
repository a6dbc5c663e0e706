"""TFD111 pcie-width-degraded: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.hardware.tfd111_pcie_width_degraded import pcie_width_degraded as rule


def at(width: int, slot: int = 16) -> object:
    return facts.pci(facts.pci_device(link=facts.Link(4, width, 4, 16), upstream=(facts.Link(4, width, 5, slot),)))


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), at(4), facts.gpus())
    assert "runs with 4 PCIe lanes" in diagnosis.message and "(16)" in diagnosis.message


def test_narrow_slot_is_by_design() -> None:
    assert facts.silent(rule, facts.gpu_machine(), at(4, slot=4))


def test_full_width_at_rest() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.pci())


def test_port_not_seen() -> None:
    device = facts.pci_device(link=facts.Link(1, 8, 3, 16), upstream=())
    assert facts.silent(rule, facts.gpu_machine(), facts.pci(device))


def test_ports_of_virtual_machines_are_made_up() -> None:
    assert facts.silent(rule, facts.gpu_machine(), at(4), facts.cloud(virtual=True))
