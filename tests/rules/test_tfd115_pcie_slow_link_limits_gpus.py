"""TFD115 pcie-slow-link-limits-gpus: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.hardware.tfd115_pcie_slow_link_limits_gpus import pcie_slow_link_limits_gpus as rule


def test_narrow() -> None:
    gpus = facts.gpus(facts.gpu(pcie=facts.PcieLink(3, 8, 3, 16, 3, 3), name="Tesla T4"))
    diagnosis = facts.found(rule, facts.gpu_machine(), gpus)
    assert "PCIe 3 x8 (8 GB/s" in diagnosis.message and "PCIe 3 x16 (16 GB/s)" in diagnosis.message
    assert rule.severity is Severity.INFO


def test_older_board() -> None:
    gpus = facts.gpus(facts.gpu(pcie=facts.PcieLink(1, 16, 4, 16, 4, 3)))
    assert "PCIe 3 x16" in facts.found(rule, facts.gpu_machine(), gpus).message


def test_at_rest_the_current_speed_means_nothing() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus(), facts.pci())


def test_not_told() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus(facts.gpu(pcie=facts.PcieLink())))
