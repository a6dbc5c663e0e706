"""TFD403 python-older-than-target-supports: what a log shows of it."""

from __future__ import annotations

import facts
from log_faults import explained, only_in_a_log

from tfdoctor.rules.python.tfd403_python_older_than_target_supports import python_older_than_target_supports as rule


def test_says_what_the_log_said() -> None:
    found = explained(rule, python="3.8.10", requires=">=3.9")
    assert "3.8.10" in found.message and ">=3.9" in found.message
    assert "17" in found.evidence[0].says and "newer Python" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)


def test_the_newest_release_for_that_python() -> None:
    found = explained(rule, facts.platform(), python="3.8.10")
    assert found.fixes[1].requirements == ("tensorflow==2.13.1",)
