"""TFD612 gpu-memory-batch-too-large: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.configuration.tfd612_gpu_memory_batch_too_large import gpu_memory_batch_too_large as rule


def test_says_what_the_log_said() -> None:
    found = explained(rule, shape="[64,512,512,64]")
    assert "[64,512,512,64]" in found.message
    assert "17" in found.evidence[0].says and "smaller batch" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
