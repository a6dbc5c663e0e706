"""The progress bar of `explain`: on a terminal, for a large log, and on standard error alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfdoctor.commands.explain import BAR_FROM

pytest.importorskip("pty")
FAULT = (
    b"E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no device\n"
)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    log = tmp_path_factory.mktemp("logs") / "large.log"
    line = b"Epoch 1/10: step 17 of 100, nothing to be said of it\n"
    log.write_bytes(line * (BAR_FROM // len(line) + 1) + FAULT)
    return log


def explain(log: Path, *, terminal: bool) -> tuple[str, str]:
    """(standard output, standard error) of `tfdoctor explain LOG`, with a pseudo-terminal for the latter if wanted."""
    import pty

    ours, theirs = pty.openpty() if terminal else os.pipe()
    command = [sys.executable, "-m", "tfdoctor", "explain", "--no-host", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, stdin=subprocess.DEVNULL) as process:
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 4096):
                said += piece
        except OSError:  # a pseudo-terminal that nobody holds any more
            pass
        os.close(ours)
        output, _none = process.communicate(timeout=60)
    assert process.returncode == 0
    return output.decode(), said.decode()


def test_a_bar_that_goes_to_the_end(large: Path) -> None:
    output, said = explain(large, terminal=True)
    assert "large.log" in said and "100%" in said
    assert said.count("\r") > 3  # drawn again as the log is read
    assert "cuda-visible-devices-hidden" in output and "%" not in output


def test_none_where_standard_error_is_no_terminal(large: Path) -> None:
    output, said = explain(large, terminal=False)
    assert said == "" and "cuda-visible-devices-hidden" in output


def test_none_for_a_small_log(tmp_path: Path) -> None:
    log = tmp_path / "small.log"
    log.write_bytes(FAULT)
    assert explain(log, terminal=True)[1] == ""
