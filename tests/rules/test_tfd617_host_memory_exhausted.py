"""TFD617 host-memory-exhausted: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.configuration.tfd617_host_memory_exhausted import host_memory_exhausted as rule


def test_says_what_did_not_fit_and_that_it_is_not_the_gpu() -> None:
    found = explained(rule, shape="[16,19,19,1024]")
    assert "[16,19,19,1024]" in found.message and "not the GPU's" in found.message
    assert "17" in found.evidence[0].says


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
