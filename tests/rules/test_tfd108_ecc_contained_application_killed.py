"""TFD108 ecc-contained-application-killed: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.hardware.tfd108_ecc_contained_application_killed import ecc_contained_application_killed as rule


def test_sick() -> None:
    log = facts.kernel_log(facts.xid(94), facts.xid(94))
    diagnosis = facts.found(rule, facts.gpu_machine(), log, facts.gpus())
    assert "Xid 94, 2 times" in diagnosis.message
    assert rule.severity is Severity.WARNING


def test_healthy() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.kernel_log())
