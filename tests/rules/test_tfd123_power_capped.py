"""TFD123 power-capped: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.hardware.tfd123_power_capped import power_capped as rule


def limited(**changes: object) -> object:
    values = {"power_limit": 250.0, "throttle": frozenset({"sw-power-cap"}), **changes}
    return facts.gpus(facts.gpu(**values))


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), limited())
    assert "250 W" in diagnosis.message and "350 W" in diagnosis.message
    assert diagnosis.severity is None


def test_lowered_but_not_felt() -> None:
    assert facts.found(rule, facts.gpu_machine(), limited(throttle=frozenset({"idle"}))).severity is Severity.INFO


def test_reaching_the_default_limit_is_normal() -> None:
    assert facts.silent(rule, facts.gpu_machine(), limited(power_limit=350.0))


def test_rounding() -> None:
    assert facts.silent(rule, facts.gpu_machine(), limited(power_limit=349.4))


def test_laptops_move_it_themselves() -> None:
    assert facts.silent(rule, facts.gpu_machine(), limited(name="NVIDIA GeForce RTX 4070 Laptop GPU"))


def test_power_brake() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), limited(throttle=frozenset({"hw-power-brake"}), clock_sm=345))
    assert "power brake" in diagnosis.message and "345 MHz" in diagnosis.message


def test_not_told() -> None:
    assert facts.silent(rule, facts.gpu_machine(), limited(power_limit_default=None))
