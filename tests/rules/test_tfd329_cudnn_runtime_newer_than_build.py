"""TFD329 cudnn-runtime-newer-than-build: what a log shows of it, and what is the older one's."""

from __future__ import annotations

import io

import pytest
from log_faults import explained, only_in_a_log

from tfdoctor.known_errors import Catalogue, explain
from tfdoctor.rules.libraries.tfd329_cudnn_runtime_newer_than_build import cudnn_runtime_newer_than_build as rule


@pytest.mark.parametrize(
    ("have", "needed", "name"),
    [
        ("6021 (compatibility version 6000)", "5105 (compatibility version 5100)", "cudnn-runtime-newer-than-build"),
        ("7301 (compatibility version 7300)", "7003 (compatibility version 7000)", "cudnn-runtime-newer-than-build"),
        ("5005 (compatibility version 5000)", "5110 (compatibility version 5100)", "cudnn-runtime-older-than-build"),
        ("8.0.4", "8.1.0", "cudnn-runtime-older-than-build"),
        ("90100", "90300", "cudnn-runtime-older-than-build"),
    ],
)
def test_which_of_the_two_is_newer_decides(have: str, needed: str, name: str) -> None:
    log = f"Loaded runtime CuDNN library: {have} but source was compiled with: {needed}."
    found = explain(io.BytesIO(log.encode()), Catalogue.load(), given={})
    assert found.answers[0].name == name


def test_says_both_versions() -> None:
    found = explained(rule, cudnn="6021", cudnn_build="5105")
    assert "6021" in found.message and "5105" in found.message
    assert "17" in found.evidence[0].says


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
