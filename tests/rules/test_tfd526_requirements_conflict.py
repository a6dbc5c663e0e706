"""TFD526 requirements-conflict: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.tensorflow.tfd526_requirements_conflict import requirements_conflict as rule


def test_says_who_asks_for_what() -> None:
    found = explained(rule, needy="tensorflow-intel 2.12.1", needs="typing-extensions<4.6.0 and >=3.6.6")
    assert "tensorflow-intel 2.12.1 asks for typing-extensions<4.6.0" in found.message
    assert "17" in found.evidence[0].says and found.fixes[0].commands


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
