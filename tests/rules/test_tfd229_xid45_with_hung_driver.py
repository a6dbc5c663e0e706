"""TFD229 xid45-with-hung-driver: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd229_xid45_with_hung_driver import xid45_with_hung_driver as rule

HANGS = facts.nvml(state="timed-out", code=None)


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), facts.kernel_log(facts.xid(45)), HANGS)
    assert "Xid 45 at 0000:01:00" in diagnosis.message


def test_a_driver_that_answers() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.kernel_log(facts.xid(45)), facts.nvml())


def test_a_hang_without_the_xid() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.kernel_log(), HANGS)
