"""TFD232 xid13-application-fault: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.driver.tfd232_xid13_application_fault import xid13_application_fault as rule


def test_sick() -> None:
    log = facts.kernel_log(facts.xid(13), facts.xid(13))
    diagnosis = facts.found(rule, facts.gpu_machine(), log, facts.gpus())
    assert "Xid 13, 2 times" in diagnosis.message and "GPU 0" in diagnosis.message
    assert rule.severity is Severity.INFO


def test_healthy() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.kernel_log(facts.xid(31)))
