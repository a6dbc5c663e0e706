"""TFD317 cudnn-engine-workspace-limit: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.libraries.tfd317_cudnn_engine_workspace_limit import cudnn_engine_workspace_limit as rule


def test_says_what_the_log_said() -> None:
    found = explained(rule, limit_bytes="4294967296")
    assert "4294967296" in found.message
    assert "17" in found.evidence[0].says and "TF_CUDNN_WORKSPACE_LIMIT_IN_MB" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)


def test_twice_what_was_too_little() -> None:
    assert explained(rule).fixes[0].environment == (("TF_CUDNN_WORKSPACE_LIMIT_IN_MB", "8192"),)
    assert explained(rule, limit_bytes="8589934592").fixes[0].environment == (
        ("TF_CUDNN_WORKSPACE_LIMIT_IN_MB", "16384"),
    )
