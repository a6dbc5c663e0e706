"""TFD507 cpu-only-build-mislabelled: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.tensorflow.tfd507_cpu_only_build_mislabelled import cpu_only_build_mislabelled as rule

GPU = facts.gpu_machine()
NO_CUDA = facts.tensorflow(cuda_build=False)


def test_the_official_name_and_version_without_cuda() -> None:
    found = facts.found(rule, GPU, NO_CUDA, facts.platform(), facts.distributions(), facts.interpreter())
    assert "tensorflow 2.20.0" in found.message
    assert found.fixes[0].commands[0][-1] == "tensorflow==2.20.0"


def test_the_name_says_gpu() -> None:
    named = facts.tensorflow(distribution="tensorflow-gpu", version="2.9.1", cuda_build=False)
    assert "tensorflow-gpu 2.9.1" in facts.found(rule, GPU, named).message


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.platform(), facts.distributions())


def test_a_wheel_that_never_has_cuda_is_called_rightly() -> None:
    assert facts.silent(rule, GPU, NO_CUDA, facts.platform(machine="aarch64"), facts.distributions())
    assert facts.silent(rule, GPU, NO_CUDA, facts.windows(), facts.distributions())


def test_conda_promises_nothing_by_the_name_alone() -> None:
    conda = facts.distributions({}, facts.distribution("tensorflow", "2.20.0", installer="conda"))
    assert facts.silent(rule, GPU, NO_CUDA, facts.platform(), conda)
