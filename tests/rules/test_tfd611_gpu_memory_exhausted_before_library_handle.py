"""TFD611 gpu-memory-exhausted-before-library-handle: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.configuration.tfd611_gpu_memory_exhausted_before_library_handle import (
    gpu_memory_exhausted_before_library_handle as rule,
)


def test_says_what_the_log_said() -> None:
    found = explained(rule)
    assert "GPU memory" in found.message
    assert "17" in found.evidence[0].says and "TF_FORCE_GPU_ALLOW_GROWTH" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
