"""TFD809 nccl-ranks-configured-differently: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.distributed.tfd809_nccl_ranks_configured_differently import (
    nccl_ranks_configured_differently as rule,
)

LOG = facts.log_match("nccl-ranks-configured-differently", "Message truncated", (20,))


def test_sick() -> None:
    diagnosis = facts.found(rule, LOG, facts.environment(NCCL_ALGO="Ring", NCCL_PROTO="LL"))
    assert [e.says for e in diagnosis.evidence[1:]] == ["NCCL_ALGO=Ring", "NCCL_PROTO=LL"]


def test_the_log_alone() -> None:
    assert facts.found(rule, LOG).message
    assert rule.log_only
