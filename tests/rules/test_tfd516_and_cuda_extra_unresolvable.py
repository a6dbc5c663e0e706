"""TFD516 and-cuda-extra-unresolvable: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.tensorflow.tfd516_and_cuda_extra_unresolvable import and_cuda_extra_unresolvable as rule


def test_says_what_the_log_said() -> None:
    found = explained(rule)
    assert "tensorrt-libs 8.6.1" in found.message and "2.15.0" in found.message
    assert "17" in found.evidence[0].says and "tensorflow[and-cuda]==2.15.1" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
