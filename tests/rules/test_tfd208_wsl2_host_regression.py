"""TFD208 wsl2-host-regression: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Status
from tfdoctor.rules.driver.tfd208_wsl2_host_regression import wsl2_host_regression as rule

LOG = facts.log_match("wsl2-host-regression", "busy or unavailable", (7,))


def test_sick() -> None:
    diagnosis = facts.found(rule, LOG, facts.platform(wsl=2), facts.driver(version="560.94"))
    assert "560.94" in diagnosis.message


def test_not_under_linux() -> None:
    assert facts.run(rule, LOG, facts.platform()).status is Status.NOT_APPLICABLE


def test_the_log_alone() -> None:
    assert facts.found(rule, LOG).message
    assert rule.log_only
