"""TFD114 pcie-link-stuck-gen1: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.hardware.tfd114_pcie_link_stuck_gen1 import pcie_link_stuck_gen1 as rule


def busy(**changes: object) -> object:
    values = {"utilization": 97, "performance_state": 0, "pcie": facts.pcie(generation=1), **changes}
    return facts.gpus(facts.gpu(**values))


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), busy())
    assert "97 % busy" in diagnosis.message and "generation 1 of 4" in diagnosis.message


def test_idle_downshift_is_harmless() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus())
    assert facts.silent(rule, facts.gpu_machine(), busy(performance_state=8))


def test_boundary() -> None:
    assert facts.silent(rule, facts.gpu_machine(), busy(utilization=49))
    assert facts.found(rule, facts.gpu_machine(), busy(utilization=50))


def test_not_told() -> None:
    assert facts.silent(rule, facts.gpu_machine(), busy(utilization=None))
    assert facts.silent(rule, facts.gpu_machine(), busy(pcie=facts.PcieLink()))
