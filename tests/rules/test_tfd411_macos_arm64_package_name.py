"""TFD411 macos-arm64-package-name: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.python.tfd411_macos_arm64_package_name import macos_arm64_package_name as rule


def test_says_what_the_log_said() -> None:
    found = explained(rule, version="2.10.0")
    assert "2.13" in found.message and "2.10.0" in found.message and "tensorflow-macos" in found.message
    assert "17" in found.evidence[0].says and "tensorflow>=2.13" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
