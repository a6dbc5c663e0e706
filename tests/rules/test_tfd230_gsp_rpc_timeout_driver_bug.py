"""TFD230 gsp-rpc-timeout-driver-bug: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.driver.tfd230_gsp_rpc_timeout_driver_bug import gsp_rpc_timeout_driver_bug as rule


def test_sick() -> None:
    log = facts.kernel_log(facts.xid(119), facts.xid(119))
    down = facts.nvml(state="timed-out", code=None)
    diagnosis = facts.found(rule, facts.gpu_machine(), log, facts.driver(version="525.60.13"), down)
    assert "525.60.13" in diagnosis.message and "Xid 119" in diagnosis.message
    assert diagnosis.severity is None


def test_it_answers_again() -> None:
    log = facts.kernel_log(facts.xid(120))
    diagnosis = facts.found(rule, facts.gpu_machine(), log, facts.driver(), facts.nvml(), facts.gpus())
    assert diagnosis.severity is Severity.WARNING and diagnosis.gpus == (0,)


def test_healthy() -> None:
    assert facts.WORKSTATION.silent(rule)
