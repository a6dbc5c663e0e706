"""TFD531 crashed-in-native-code: what a log shows of it, and what it leaves to others."""

from __future__ import annotations

import io

import pytest
from log_faults import explained, only_in_a_log

from tfdoctor.known_errors import Catalogue, explain
from tfdoctor.rules.tensorflow.tfd531_crashed_in_native_code import crashed_in_native_code as rule

CRASH = "Segmentation fault (core dumped)"


@pytest.mark.parametrize(
    ("log", "causes"),
    [
        (CRASH, ["crashed-in-native-code"]),
        ("Fatal Python error: Segmentation fault", ["crashed-in-native-code"]),
        ("Process finished with exit code -1073741819 (0xC0000005)", ["crashed-in-native-code"]),
        (f">>> import torch\n>>> import tensorflow\n{CRASH}", ["imported-beside-clashing-library"]),
        (f"CUDA_ERROR_OUT_OF_MEMORY: out of memory\n{CRASH}", ["gpu-memory-held-by-other-process"]),
    ],
)
def test_a_line_that_says_more_comes_first(log: str, causes: list[str]) -> None:
    answers = explain(io.BytesIO(log.encode()), Catalogue.load(), given={}).answers
    assert [a.name for a in answers if a.role == "cause"] == causes


def test_names_candidates_and_how_to_tell() -> None:
    answer = explain(io.BytesIO(CRASH.encode()), Catalogue.load(), given={}).answers[0]
    assert "imported-beside-clashing-library" in answer.alternatives
    assert "faulthandler" in answer.decide_by


def test_says_where_the_log_has_it() -> None:
    assert "17" in explained(rule).evidence[0].says


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
