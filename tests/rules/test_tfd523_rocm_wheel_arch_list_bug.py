"""TFD523 rocm-wheel-arch-list-bug: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.tensorflow.tfd523_rocm_wheel_arch_list_bug import rocm_wheel_arch_list_bug as rule


def test_says_what_the_log_said() -> None:
    found = explained(rule)
    assert "gfx1030" in found.message and "gfx1100" in found.message
    assert "17" in found.evidence[0].says and "tensorflow-rocm" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
