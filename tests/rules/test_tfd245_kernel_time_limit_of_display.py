"""TFD245 kernel-time-limit-of-display: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.driver.tfd245_kernel_time_limit_of_display import kernel_time_limit_of_display as rule


def test_says_where_the_log_has_it() -> None:
    found = explained(rule)
    assert "drives a display" in found.message
    assert "17" in found.evidence[0].says


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
