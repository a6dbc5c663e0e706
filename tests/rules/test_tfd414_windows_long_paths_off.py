"""TFD414 windows-long-paths-off: what a log shows of it."""

from __future__ import annotations

import io

import pytest
from log_faults import explained, only_in_a_log

from tfdoctor.known_errors import Catalogue, explain
from tfdoctor.rules.python.tfd414_windows_long_paths_off import windows_long_paths_off as rule

HEADER = r"C:\\py\\Lib\\site-packages\\tensorflow\\include\\external\\cudnn_frontend_archive\\_virtual_includes\\x.h"
HINT = "HINT: This error might have occurred since this system does not have Windows Long Path support enabled."


@pytest.mark.parametrize(
    "log",
    [
        f"ERROR: Could not install packages due to an OSError: [Errno 2] No such file or directory: '{HEADER}'",
        HINT,
        "ERROR: Could not install packages due to an OSError: [WinError 206] The filename or extension is too long",
    ],
)
def test_every_way_in_which_pip_says_it(log: str) -> None:
    assert explain(io.BytesIO(log.encode()), Catalogue.load(), given={}).answers[0].name == "windows-long-paths-off"


def test_a_file_that_is_missing_elsewhere_is_another_fault() -> None:
    log = "ERROR: Could not install packages due to an OSError: [Errno 2] No such file or directory: '/tmp/x.whl'"
    assert not explain(io.BytesIO(log.encode()), Catalogue.load(), given={}).answers


def test_says_where_the_log_has_it() -> None:
    assert "17" in explained(rule).evidence[0].says


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
