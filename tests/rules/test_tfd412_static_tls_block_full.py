"""TFD412 static-tls-block-full: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.python.tfd412_static_tls_block_full import static_tls_block_full as rule


def test_names_the_library_without_its_folder() -> None:
    found = explained(rule, library="/usr/lib/aarch64-linux-gnu/libgomp.so.1")
    assert found.message.startswith("libgomp.so.1 ")
    assert "17" in found.evidence[0].says and "LD_PRELOAD" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message.startswith("A library")


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
