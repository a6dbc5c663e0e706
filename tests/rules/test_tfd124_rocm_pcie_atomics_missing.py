"""TFD124 rocm-pcie-atomics-missing: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.hardware.tfd124_rocm_pcie_atomics_missing import rocm_pcie_atomics_missing as rule

LOG = facts.log_match("rocm-pcie-atomics-missing", "PCI rejects atomics", (3,), device="1002:67df")


def test_sick() -> None:
    assert "1002:67df" in facts.found(rule, LOG, facts.pci()).message


def test_the_log_alone() -> None:
    assert facts.found(rule, facts.log_match("rocm-pcie-atomics-missing")).message


def test_not_in_a_check() -> None:
    assert rule.log_only
