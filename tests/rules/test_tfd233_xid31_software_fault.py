"""TFD233 xid31-software-fault: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.driver.tfd233_xid31_software_fault import xid31_software_fault as rule


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), facts.kernel_log(facts.xid(31)))
    assert "Xid 31, 1 times" in diagnosis.message and "0000:01:00" in diagnosis.message
    assert rule.severity is Severity.INFO


def test_a_desktop_program_is_not_ours() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.kernel_log(facts.xid(31, process="chrome")))


def test_process_not_named() -> None:
    assert facts.found(rule, facts.gpu_machine(), facts.kernel_log(facts.xid(31, process="", pid=None)))
