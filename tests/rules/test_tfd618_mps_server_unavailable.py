"""TFD618 mps-server-unavailable: what a log shows of it."""

from __future__ import annotations

from log_faults import explained, only_in_a_log

from tfdoctor.rules.configuration.tfd618_mps_server_unavailable import mps_server_unavailable as rule


def test_names_the_code() -> None:
    assert "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED" in explained(rule, code="CUDA_ERROR_MPS_MAX_CLIENTS_REACHED").message


def test_a_pattern_without_groups_is_enough() -> None:
    assert "MPS" in explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
