"""TFD613 gpu-memory-fragmented: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.configuration.tfd613_gpu_memory_fragmented import gpu_memory_fragmented as rule


def test_says_what_the_log_said() -> None:
    found = explained(rule)
    assert "one piece" in found.message
    assert "17" in found.evidence[0].says and "TF_GPU_ALLOCATOR" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
