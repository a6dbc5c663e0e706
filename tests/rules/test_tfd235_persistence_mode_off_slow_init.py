"""TFD235 persistence-mode-off-slow-init: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.driver.tfd235_persistence_mode_off_slow_init import persistence_mode_off_slow_init as rule


def off(**changes: object) -> object:
    return facts.gpus(*(facts.gpu(i, persistence=False, **changes) for i in range(4)))


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), off(), facts.platform())
    assert "GPU 0, 1, 2 and 3" in diagnosis.message
    assert rule.severity is Severity.INFO


def test_a_display_keeps_it_up() -> None:
    assert facts.silent(rule, facts.gpu_machine(), off(display=True), facts.platform())
    xorg = (facts.GpuProcess(900, None, "Xorg", "another user", "graphics"),)
    assert facts.silent(rule, facts.gpu_machine(), off(processes=xorg), facts.platform())


def test_windows_and_wsl() -> None:
    assert facts.silent(rule, facts.gpu_machine(), off(), facts.windows())
    assert facts.silent(rule, facts.gpu_machine(), off(), facts.platform(wsl=2))


def test_not_told() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus(facts.gpu(persistence=None)), facts.platform())


def test_with_few_gpus_nobody_notices() -> None:
    three = facts.gpus(*(facts.gpu(i, persistence=False) for i in range(3)))
    assert facts.silent(rule, facts.gpu_machine(), three, facts.platform())
