"""TFD614 gpu-not-used-soft-placement: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.configuration.tfd614_gpu_not_used_soft_placement import gpu_not_used_soft_placement as rule


def test_says_what_the_log_said() -> None:
    found = explained(rule, operation="MatMul", device="/GPU:1")
    assert "MatMul" in found.message and "/GPU:1" in found.message
    assert "17" in found.evidence[0].says and "soft_device_placement" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
