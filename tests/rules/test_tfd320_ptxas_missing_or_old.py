"""TFD320 ptxas-missing-or-old: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.libraries.tfd320_ptxas_missing_or_old import ptxas_missing_or_old as rule

GPU = facts.gpu_machine()
NONE = facts.xla_tools(ptxas="", ptxas_version=None)


def test_none() -> None:
    found = facts.found(rule, GPU, facts.tensorflow(), NONE)
    assert "no ptxas" in found.message and "12.5.1" in found.message
    assert found.fixes[0].requirements == ("nvidia-cuda-nvcc-cu12",)


def test_older_than_the_gpu() -> None:
    blackwell = facts.gpus(facts.gpu(name="NVIDIA GeForce RTX 5090", compute_capability="12.0"))
    old = facts.xla_tools(ptxas="/usr/bin/ptxas", ptxas_version="12.4")
    found = facts.found(rule, GPU, facts.tensorflow(), old, blackwell)
    assert "12.4" in found.message and "12.8" in found.message and "RTX 5090" in found.message


def test_as_old_as_the_gpu() -> None:
    ada = facts.gpus(facts.gpu(compute_capability="8.9"))
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.xla_tools(ptxas_version="11.8"), ada)


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.xla_tools(), facts.gpus())
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.xla_tools(ptxas_version=None), facts.gpus())


def test_rests_on_windows_and_in_builds_without_cuda() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), NONE, facts.windows())
    assert facts.silent(rule, GPU, facts.tensorflow(cuda_build=False), NONE)
