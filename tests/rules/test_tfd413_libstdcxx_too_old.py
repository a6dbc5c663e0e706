"""TFD413 libstdcxx-too-old: what a log shows of it, and what it leaves to others."""

from __future__ import annotations

import io

import pytest
from log_faults import explained, only_in_a_log

from tfdoctor.known_errors import Catalogue, explain
from tfdoctor.rules.python.tfd413_libstdcxx_too_old import libstdcxx_too_old as rule

LINE = "ImportError: {path}/libstdc++.so.6: version `GLIBCXX_3.4.29' not found (required by /home/user/x.so)"


@pytest.mark.parametrize("path", ["/lib64", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu"])
def test_the_system_s_own(path: str) -> None:
    found = explain(io.BytesIO(LINE.format(path=path).encode()), Catalogue.load(), given={})
    assert found.answers[0].name == "libstdcxx-too-old"
    assert f"{path}/libstdc++.so.6" in found.answers[0].message and "GLIBCXX_3.4.29" in found.answers[0].message


@pytest.mark.parametrize("path", ["/home/user/envs/tf/lib", "/usr/local/linaro/lib64", "/opt/matlab/bin/glnxa64"])
def test_another_one_hides_it(path: str) -> None:
    found = explain(io.BytesIO(LINE.format(path=path).encode()), Catalogue.load(), given={})
    assert found.answers[0].name == "libstdcxx-shadowed-by-conda"
    assert "/libstdc++.so.6" in found.answers[0].message and "GLIBCXX_3.4.29" in found.answers[0].message


def test_a_pattern_without_groups_is_enough() -> None:
    assert "17" in explained(rule).evidence[0].says


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
