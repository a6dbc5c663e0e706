"""TFD113 pcie-limited-by-upstream-switch: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.hardware.tfd113_pcie_limited_by_upstream_switch import pcie_limited_by_upstream_switch as rule


def behind(*above: object) -> object:
    port = facts.Link(5, 16, 5, 16)
    return facts.pci(facts.pci_device(link=facts.Link(5, 16, 5, 16), upstream=(port, *above)))  # type: ignore[arg-type]


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), behind(facts.Link(4, 16, 4, 16)), facts.gpus())
    assert "63 GB/s" in diagnosis.message and "32 GB/s" in diagnosis.message
    assert rule.severity is Severity.INFO


def test_equal_links() -> None:
    assert facts.silent(rule, facts.gpu_machine(), behind(facts.Link(5, 16, 5, 16)))


def test_nothing_seen_above() -> None:
    assert facts.silent(rule, facts.gpu_machine(), behind())
    assert facts.silent(rule, facts.gpu_machine(), behind(facts.Link(None, None, None, None)))
