"""TFD812 multiple-strategies-share-collective-key: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.distributed.tfd812_multiple_strategies_share_collective_key import (
    multiple_strategies_share_collective_key as rule,
)


def test_sick() -> None:
    log = facts.log_match("multiple-strategies-share-collective-key", "is joining a group", (6,), joins="2", has="4")
    diagnosis = facts.found(rule, log)
    assert "2 devices" in diagnosis.message and "with 4" in diagnosis.message


def test_not_in_a_check() -> None:
    assert rule.log_only
