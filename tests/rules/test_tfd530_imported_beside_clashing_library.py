"""TFD530 imported-beside-clashing-library: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.tensorflow.tfd530_imported_beside_clashing_library import imported_beside_clashing_library as rule


def test_says_where_the_log_has_it() -> None:
    found = explained(rule)
    assert "each works alone" in found.message
    assert "17" in found.evidence[0].says


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
