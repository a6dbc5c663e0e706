"""TFD817 communication-bound-scaling: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.distributed.tfd817_communication_bound_scaling import communication_bound_scaling as rule

LOG = facts.log_match("communication-bound-scaling", "", (3,))


def test_sick() -> None:
    assert "PHB" in facts.found(rule, LOG, facts.topology({(0, 1): "PHB"})).message


def test_the_log_alone() -> None:
    assert facts.found(rule, LOG).message
    assert rule.log_only
