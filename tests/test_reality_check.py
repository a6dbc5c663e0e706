"""The parts of scripts/reality that run nothing: reading the loader's trace, comparing, the table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
from reality.running import read_loader_trace, shorten, tensorflow_only
from reality.table import decisive, disagreements, table

TRACE = """\
       77:\tfile=libcublas.so.12 [0];  dynamically loaded by /e/tensorflow/libtensorflow_framework.so.2 [0]
       77:\tfind library=libcublas.so.12 [0]; searching
       77:\t search path=/a:/b\t\t(LD_LIBRARY_PATH)
       77:\t  trying file=/a/libcublas.so.12
       77:\t search path=/e/nvidia/cublas/lib\t\t(RUNPATH from file /e/tensorflow/libtensorflow_framework.so.2)
       77:\t  trying file=/e/nvidia/cublas/lib/libcublas.so.12
       77:\tfile=libcublas.so.12 [0];  generating link map
       77:\tfile=libcublasLt.so.12 [0];  needed by /e/nvidia/cublas/lib/libcublas.so.12 [0]
       77:\t search cache=/etc/ld.so.cache
       77:\tfile=libcudnn_graph.so.9.1.0 [0];  dynamically loaded by /e/tensorflow/../nvidia/cudnn/lib/libcudnn.so.9 [0]
       77:\tfile=libnvinfer.so.8 [0];  dynamically loaded by /e/tensorflow/compiler/tf2tensorrt/_pywrap_py_utils.so [0]
       77:\tfile=libfoo.so [0];  dynamically loaded by /usr/lib/libpython3.11.so.1.0 [0]
"""


def test_the_loader_trace() -> None:
    seen = tensorflow_only(read_loader_trace(TRACE))
    assert [(e["library"], e["found"], e["through"]) for e in seen] == [
        (
            "libcublas.so.12",
            "/e/nvidia/cublas/lib/libcublas.so.12",
            "RUNPATH from file /e/tensorflow/libtensorflow_framework.so.2",
        ),
        ("libcublasLt.so.12", None, None),
        ("libcudnn_graph.so.9.1.0", None, None),
        ("libnvinfer.so.8", None, None),
    ]
    assert seen[0]["caller"].endswith("libtensorflow_framework.so.2")
    assert seen[1]["needed_by"] == "/e/nvidia/cublas/lib/libcublas.so.12"
    assert decisive({"dlopen": seen}) == ["libcublasLt.so.12"]


@given(st.text())
def test_any_trace_is_read(text: str) -> None:
    read_loader_trace(text)


def row(
    gpus: int, verdict: str, missing: tuple[str, ...] = (), message: str = "", case: str = "plain"
) -> dict[str, Any]:
    opened = [{"library": name, "caller": "/t/libtensorflow_framework.so.2", "found": None} for name in missing]
    said = {"verdict": {"gpu": verdict, "because": None}, "diagnoses": [{"severity": "error", "message": message}]}
    return {
        "release": "2.18.1",
        "case": case,
        "says": "as | installed",
        "real": {"gpus": gpus, "dlopen": opened},
        "said": said,
    }


@pytest.mark.parametrize(
    ("result", "wrong"),
    [
        (row(2, "yes"), 0),
        (row(0, "no"), 0),
        (row(2, "no"), 1),
        (row(0, "unknown"), 1),
        (row(0, "yes"), 1),
        (row(0, "no", ("libcufft.so.11",), "libcufft.so.11 is missing"), 0),
        (row(0, "no", ("libcufft.so.11",), "a cable"), 1),
        (row(2, "no", case="old-driver"), 0),
        (row(2, "yes", case="old-driver"), 1),
    ],
)
def test_disagreements(result: dict[str, Any], wrong: int) -> None:
    assert len(disagreements(result)) == wrong


def test_a_failed_check_is_a_disagreement() -> None:
    broken = {**row(0, "no"), "said": {"exit": 2, "error": "no such table"}}
    assert "no such table" in disagreements(broken)[0]


def test_the_table() -> None:
    text = table([row(2, "yes"), row(0, "yes", case="ld-path")])
    assert "1 of 2 cases agree" in text and "| as \\| installed | 2 | - | yes | - | agrees |" in text


def test_paths_and_times_leave_the_results() -> None:
    got = shorten({"log": ["2024-01-02 03:04:05.678901: W /e/site/x"]}, {"/e/site": "<site-packages>"})
    assert got == {"log": ["W <site-packages>/x"]}
