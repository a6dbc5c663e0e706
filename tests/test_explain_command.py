"""`tfdoctor explain` at the command line: pages, codes, formats, and input that is not usable."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
from pathlib import Path
from typing import Any

import pytest
from asking import OOM, cli

from tfdoctor.cli import main
from tfdoctor.model import BadInput
from tfdoctor.tables import Tables
from tfdoctor.tables.log_rows import ErrorCode


def test_nothing_known_shows_what_looks_like_errors() -> None:
    result = cli("--no-host", "-", stdin=b"all is well\nValueError: a shape is odd\n")
    assert result.exit_code == 0
    assert "knows no error" in result.stdout
    assert "2 | ValueError: a shape is odd" in result.stdout
    nothing = json.loads(cli("--no-host", "--format", "json", "-", stdin=b"all is well\n").stdout)
    assert nothing["diagnoses"] == []
    assert "Nothing here is an error that tfdoctor knows" in nothing["remark"]
    odd = json.loads(cli("--no-host", "--format", "json", "-", stdin=b"ValueError: a shape is odd\n").stdout)
    assert (odd["diagnoses"], odd["remark"]) == ([], "tfdoctor knows no error in this log.")
    known = json.loads(cli("--no-host", "--format", "json", "-", stdin=OOM.encode()).stdout)
    assert known["remark"] is None


@pytest.mark.parametrize("name", ["CUDA_ERROR_CDP_NOT_SUPPORTED", "CUBLAS_STATUS_LICENSE_ERROR", "cudaErrorTimeout"])
def test_where_nothing_is_known_the_codes_are_explained(name: str) -> None:
    log = f"loss: 0.1\nRuntimeError: it ended with {name}\nValueError: {name}, not CUDNN_STATUS_SUCCESS\n"
    (row,) = (row for row in Tables().rows(ErrorCode) if row.name == name)
    assert f"{name}: {row.meaning[:20]}" in cli("--no-host", "-", stdin=log.encode()).stdout
    found = json.loads(cli("--no-host", "--format", "json", "-", stdin=log.encode()).stdout)
    assert [(code["name"], code["value"]) for code in found["codes"]] == [(name, row.value)]


def test_json_has_the_contract_shape() -> None:
    result = cli("--no-host", "--format", "json", "-", stdin=f"x\n{OOM}\n".encode())
    answer: dict[str, Any] = json.loads(result.stdout)
    assert (answer["schema"], answer["lines"]) == (1, 2)
    one = answer["diagnoses"][0]
    wanted = {"code", "name", "role", "lines", "message", "alternatives", "decide_by", "fixes"}
    assert wanted <= one.keys()
    assert one["lines"] == [2]
    assert all(fix["safety"] in ("safe", "ask", "manual") for fix in one["fixes"])


def test_several_logs(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(OOM, encoding="utf-8")
    result = cli("--no-host", "--format", "json", str(tmp_path / "a.log"), str(tmp_path / "b.log"))
    assert [Path(log["log"]).name for log in json.loads(result.stdout)["logs"]] == ["a.log", "b.log"]


def test_what_is_printed_back_names_nobody() -> None:
    log = (
        'Nov 30 12:00:00 node-of-jane python[1]: File "/home/janedoe/train.py" for jane.doe@corp.example token=abcdef1234567890abcdef\n'
        "I cuda_diagnostics.cc:156] kernel driver does not appear to be running on this host (janes-box): /proc/driver/nvidia/version does not exist\n"
        "I cuda_diagnostics.cc:165] hostname: janes-box\n"
        "RuntimeError: cannot reach 203.0.113.77\n"
    )
    for form in ("text", "json"):
        shown = cli("--no-host", "--format", form, "-", stdin=log.encode()).stdout
        for secret in ("janedoe", "jane.doe", "abcdef1234567890", "janes-box", "203.0.113.77"):
            assert secret not in shown


@pytest.mark.parametrize("name", ["TFD203", "tfd203", "driver-too-old", "Driver_Too_Old"])
def test_the_page_of_a_diagnosis(name: str) -> None:
    result = cli(name)
    assert result.stdout.startswith("TFD203 driver-too-old")
    assert "## What to do" in result.stdout


def test_the_page_of_a_harmless_message() -> None:
    assert "harmless" in cli("benign-numa-node").stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("719", ("CUDA_ERROR_LAUNCH_FAILED", "not a version mismatch", "cudaErrorLaunchFailure")),
        ("CUDA_ERROR_ILLEGAL_ADDRESS", ("cuda-driver 700",)),
        ("cuda_error_no_device", ("cuda-driver 100",)),
        ("xid:79", ("Xid 79", "fallen off the bus", "gpu-off-bus")),
        ("Xid 79", ("Xid 79",)),
        ("nccl:5", ("nccl 5",)),
        ("cudnn:3007", ("cudnn 3007", "no code for this GPU")),
        ("NVML_ERROR_GPU_IS_LOST", ("nvml 15",)),
        ("CUDNN_STATUS_ARCH_MISMATCH", ("cudnn", "cudnn-dropped-this-gpu")),
        ("tf.keras.utils.set_memory_growth", ("does not exist", "tf.config.experimental.set_memory_growth")),
        ("keras.utils.set_random_seed", ("It exists", "tf.recompute_grad")),
    ],
)
def test_codes(asked: str, words: tuple[str, ...]) -> None:
    result = cli(asked)
    assert result.exit_code == 0
    assert all(word in result.stdout for word in words)


def test_the_codes_of_the_help_are_known() -> None:
    named = re.search(r"\(or (.+)\)", cli("--help").stdout[cli("--help").stdout.index("an error code") :])
    assert named is not None
    assert all(cli(code).exit_code == 0 for code in named.group(1).split(", "))


def test_pages_and_codes_as_json() -> None:
    answer = json.loads(cli("--format", "json", "TFD203", "xid:79").stdout)
    assert answer["pages"][0]["name"] == "driver-too-old"
    assert answer["codes"][0]["value"] == 79
    answer = json.loads(cli("--format", "json", "tf.keras.utils.set_memory_growth").stdout)
    assert (answer["codes"][0]["api"], answer["codes"][0]["value"]) == ("tensorflow", None)


def test_list_and_all() -> None:
    listing = cli("--list").stdout.splitlines()
    assert any(line.startswith("TFD203  driver-too-old") for line in listing)
    assert any("harmless" in line for line in listing)
    assert cli("--all").stdout.count("## What to do") >= len(listing) * 0.9


def refused(*arguments: str) -> str:
    with pytest.raises(BadInput) as wrong:
        cli(*arguments)
    return str(wrong.value)


def test_input_that_is_not_usable(tmp_path: Path) -> None:
    empty = tmp_path / "empty.log"
    empty.touch()
    assert "folder" in refused(str(tmp_path))
    assert "empty" in refused(str(empty))
    assert "does not exist" in refused(str(tmp_path / "no.log"))
    assert "driver-too-old" in refused("driver-to-old")
    assert "--list" in refused("qqqqqqqq")
    assert "KEY=VALUE" in refused("--no-host", "--given", "WSL2", __file__)
    assert "install" in refused("--no-host", "--given", "colour=red", __file__)
    assert "log file" in refused()


@pytest.mark.parametrize(
    ("kind", "head"),
    [
        ("gzip", gzip.compress(b"a log", mtime=0)),
        ("bzip2", bz2.compress(b"a log")),
        ("xz", lzma.compress(b"a log")),
        ("zstd", b"\x28\xb5\x2f\xfd\x04\x00"),
        ("zip", b"PK\x03\x04\x14\x00"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_compressed_log_is_refused(kind: str, head: bytes, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(head)
    assert f"is compressed ({kind})" in refused("--no-host", str(log))
    with pytest.raises(BadInput, match="standard input is compressed"):
        cli("--no-host", "-", stdin=head)


def test_an_empty_standard_input_is_refused() -> None:
    with pytest.raises(BadInput, match="empty"):
        cli("--no-host", "-")


def test_bad_input_ends_with_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["explain", str(tmp_path)])
    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_codes_that_mean_the_same_stand_together() -> None:
    shown = cli("719").stdout
    assert "CUDA_ERROR_LAUNCH_FAILED (cuda-driver 719)\ncudaErrorLaunchFailure (cuda-runtime 719)\n  An exc" in shown
    assert shown.count("An exception in a running kernel") == 1
