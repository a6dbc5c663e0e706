"""TFD218 docker-snap: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Status
from tfdoctor.rules.driver.tfd218_docker_snap import docker_snap as rule

LOG = facts.log_match("docker-snap", "could not select device driver", (1,))


def test_sick() -> None:
    assert "snap" in facts.found(rule, LOG, facts.platform()).message


def test_only_on_linux() -> None:
    assert facts.run(rule, LOG, facts.windows()).status is Status.NOT_APPLICABLE
    assert rule.log_only
