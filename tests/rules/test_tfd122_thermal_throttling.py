"""TFD122 thermal-throttling: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.hardware.tfd122_thermal_throttling import thermal_throttling as rule


def hot(**changes: object) -> object:
    values = {
        "temperature": 90,
        "temperature_slowdown": 95,
        "throttle": frozenset({"hw-thermal", "hw-slowdown"}),
        "clock_sm": 900,
        **changes,
    }
    return facts.gpus(facts.gpu(**values))


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), hot())
    assert "90 °C" in diagnosis.message and "95 °C" in diagnosis.message and "900 MHz of 2100 MHz" in diagnosis.message


def test_hardware_slowdown_near_the_limit_is_heat() -> None:
    assert facts.found(rule, facts.gpu_machine(), hot(throttle=frozenset({"hw-slowdown"})))
    assert facts.silent(rule, facts.gpu_machine(), hot(throttle=frozenset({"hw-slowdown"}), temperature=89))


def test_healthy() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus())
    assert facts.silent(rule, facts.gpu_machine(), hot(throttle=frozenset({"sw-power-cap"})))


def test_not_told() -> None:
    assert facts.silent(rule, facts.gpu_machine(), hot(throttle=None))
