"""TFD811 two-ranks-on-one-gpu: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.distributed.tfd811_two_ranks_on_one_gpu import two_ranks_on_one_gpu as rule


def test_sick() -> None:
    log = facts.log_match("two-ranks-on-one-gpu", "Duplicate GPU detected", (6,), one="1", other="0")
    diagnosis = facts.found(rule, log, facts.gpus(facts.gpu(0), facts.gpu(1)))
    assert "Ranks 1 and 0" in diagnosis.message and "2 GPUs" in diagnosis.message


def test_the_log_alone() -> None:
    assert facts.found(rule, facts.log_match("two-ranks-on-one-gpu")).message
    assert rule.log_only
