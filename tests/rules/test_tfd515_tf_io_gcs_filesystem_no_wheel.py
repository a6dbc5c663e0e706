"""TFD515 tf-io-gcs-filesystem-no-wheel: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.tensorflow.tfd515_tf_io_gcs_filesystem_no_wheel import tf_io_gcs_filesystem_no_wheel as rule


def test_says_what_the_log_said() -> None:
    found = explained(rule, version="0.37.1")
    assert "0.37.1" in found.message
    assert "17" in found.evidence[0].says and "requirements" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
