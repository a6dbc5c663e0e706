"""TFD409 libstdcxx-shadowed-by-conda: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.python.tfd409_libstdcxx_shadowed_by_conda import libstdcxx_shadowed_by_conda as rule


def test_says_what_the_log_said() -> None:
    found = explained(rule, version="GLIBCXX_3.4.29", path="/opt/conda/lib/libstdc++.so.6")
    assert "GLIBCXX_3.4.29" in found.message and "/opt/conda" in found.message
    assert "17" in found.evidence[0].says and "libstdcxx-ng" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
