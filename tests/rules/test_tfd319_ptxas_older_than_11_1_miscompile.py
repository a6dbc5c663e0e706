"""TFD319 ptxas-older-than-11.1-miscompile: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.rules.libraries.tfd319_ptxas_older_than_11_1_miscompile import ptxas_older_than_11_1_miscompile as rule

GPU = facts.gpu_machine()


def test_its_name() -> None:
    assert rule.name == "ptxas-older-than-11.1-miscompile"


@pytest.mark.parametrize("version", ["10.1", "11.0"])
def test_old(version: str) -> None:
    found = facts.found(rule, GPU, facts.tensorflow(), facts.xla_tools(ptxas="/usr/bin/ptxas", ptxas_version=version))
    assert version in found.message and "/usr/bin/ptxas" in found.message and "11.1" in found.message


@pytest.mark.parametrize("version", ["11.1", "12.9", None])
def test_healthy(version: str) -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.xla_tools(ptxas_version=version))


def test_none_is_another_fault() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.xla_tools(ptxas="", ptxas_version=None))
