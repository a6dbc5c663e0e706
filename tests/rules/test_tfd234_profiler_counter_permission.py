"""TFD234 profiler-counter-permission: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd234_profiler_counter_permission import profiler_counter_permission as rule

LOG = facts.log_match("profiler-counter-permission", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", (9,))


def test_sick() -> None:
    diagnosis = facts.found(rule, LOG, facts.kernel_driver())
    assert "RmProfilingAdminOnly is 1" in diagnosis.message


def test_in_a_container() -> None:
    diagnosis = facts.found(rule, LOG, facts.container(kind="docker"))
    assert "--cap-add=SYS_ADMIN" in diagnosis.fixes[0].commands[0]


def test_not_in_a_check() -> None:
    assert rule.log_only
