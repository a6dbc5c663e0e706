"""TFD404 wheel-python-tag-mismatch: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.python.tfd404_wheel_python_tag_mismatch import wheel_python_tag_mismatch as rule


def test_says_what_the_log_said() -> None:
    found = explained(rule, tag="36")
    assert "cp36" in found.message
    assert "17" in found.evidence[0].says and "pip of the Python" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
