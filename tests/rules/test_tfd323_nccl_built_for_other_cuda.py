"""TFD323 nccl-built-for-other-cuda: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.libraries.tfd323_nccl_built_for_other_cuda import nccl_built_for_other_cuda as rule

GPU = facts.gpu_machine(count=2)
TWO = facts.gpus(facts.gpu(0), facts.gpu(1))
TF = facts.tensorflow_release("2.21.0")
BOTH = facts.distributions({"tensorflow": "2.21.0", "nvidia-nccl-cu13": "2.28.9"})


def test_a_build_for_13_with_a_driver_for_12() -> None:
    found = facts.found(rule, GPU, TF, TWO, facts.driver(cuda="12.4"), BOTH, facts.interpreter())
    assert "nvidia-nccl-cu13 2.28.9" in found.message and "12.4" in found.message and "550.107.02" in found.message
    assert found.fixes[0].removes == ("nvidia-nccl-cu13",) and found.fixes[0].requirements == ("nvidia-nccl-cu12",)


def test_a_driver_for_13_runs_both() -> None:
    assert facts.silent(rule, GPU, TF, TWO, facts.driver(version="580.65.06", cuda="13.0"), BOTH)


def test_healthy() -> None:
    assert facts.silent(rule, GPU, TF, TWO, facts.driver(cuda="12.4"), facts.distributions())


def test_rests_with_nccl_built_in_or_one_gpu() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow_release("2.20.0"), TWO, facts.driver(cuda="12.4"), BOTH)
    assert facts.silent(rule, GPU, TF, facts.gpus(), facts.driver(cuda="12.4"), BOTH)


def test_an_unknown_driver_says_nothing() -> None:
    assert facts.silent(rule, GPU, TF, TWO, facts.driver(cuda=""), BOTH)
