"""TFD209 wsl-docker-toolkit-too-old-for-driver-555: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Status
from tfdoctor.rules.driver.tfd209_wsl_docker_toolkit_too_old_for_driver_555 import (
    wsl_docker_toolkit_too_old_for_driver_555 as rule,
)

LOG = facts.log_match("wsl-docker-toolkit-too-old-for-driver-555", "named symbol not found", (2,))


def test_sick() -> None:
    diagnosis = facts.found(rule, LOG, facts.platform(wsl=2), facts.driver(version="555.85"))
    assert "555.85" in diagnosis.message and "libnvdxgdmal.so.1" in diagnosis.message


def test_boundary() -> None:
    assert facts.run(rule, LOG, facts.driver(version="552.44")).status is Status.NOT_APPLICABLE
    assert facts.run(rule, LOG, facts.platform()).status is Status.NOT_APPLICABLE


def test_the_log_alone() -> None:
    assert facts.found(rule, LOG).message
