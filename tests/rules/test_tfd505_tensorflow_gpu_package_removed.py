"""TFD505 tensorflow-gpu-package-removed: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.tensorflow.tfd505_tensorflow_gpu_package_removed import tensorflow_gpu_package_removed as rule


def test_says_what_the_log_said() -> None:
    found = explained(rule)
    assert "tensorflow-gpu 2.12.0" in found.message
    assert "17" in found.evidence[0].says and "tensorflow[and-cuda]" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
