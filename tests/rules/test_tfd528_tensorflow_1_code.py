"""TFD528 tensorflow-1-code: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.tensorflow.tfd528_tensorflow_1_code import tensorflow_1_code as rule


def test_names_what_is_gone() -> None:
    found = explained(rule, attribute="ConfigProto")
    assert "tensorflow.ConfigProto" in found.message
    assert "17" in found.evidence[0].says


def test_a_pattern_without_groups_is_enough() -> None:
    assert "tensorflow.contrib" in explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
