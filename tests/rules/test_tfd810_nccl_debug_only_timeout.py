"""TFD810 nccl-debug-only-timeout: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.distributed.tfd810_nccl_debug_only_timeout import nccl_debug_only_timeout as rule


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.log_match("nccl-debug-only-timeout", "timed out", (44,)))
    assert "another worker" in diagnosis.message and "line 44" in diagnosis.evidence[0].says


def test_not_in_a_check() -> None:
    assert rule.log_only
