"""TFD121 thermal-limit-set-too-low: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.hardware.tfd121_thermal_limit_set_too_low import thermal_limit_set_too_low as rule


def cool(**changes: object) -> object:
    values = {"temperature": 52, "temperature_max_operating": 57, "throttle": frozenset({"sw-thermal"}), **changes}
    return facts.gpus(facts.gpu(**values))


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), cool())
    assert "52 °C" in diagnosis.message and "57 °C" in diagnosis.message and "65 °C" in diagnosis.message


def test_boundary() -> None:
    assert facts.silent(rule, facts.gpu_machine(), cool(temperature_max_operating=65))
    assert facts.found(rule, facts.gpu_machine(), cool(temperature_max_operating=64))


def test_low_limit_that_slows_nothing() -> None:
    assert facts.silent(rule, facts.gpu_machine(), cool(throttle=frozenset({"idle"})))


def test_not_told() -> None:
    assert facts.silent(rule, facts.gpu_machine(), cool(temperature_max_operating=None, throttle=None))
