"""TFD322 nccl-too-old-for-gpu: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules.libraries.tfd322_nccl_too_old_for_gpu import nccl_too_old_for_gpu as rule

GPU = facts.gpu_machine(count=2)


def _two(capability: str) -> Gpus:
    return facts.gpus(*(facts.gpu(i, name="NVIDIA GeForce RTX 5090", compute_capability=capability) for i in range(2)))


def test_two_5090_with_the_nccl_of_2_20() -> None:
    found = facts.found(rule, GPU, facts.tensorflow_release("2.20.0"), _two("12.0"))
    assert "2.25.1" in found.message and "RTX 5090" in found.message and "2.26" in found.message


def test_from_2_21_on_the_package_counts() -> None:
    tf = facts.tensorflow_release("2.21.0")
    assert facts.silent(rule, GPU, tf, _two("12.0"), facts.distributions({"nvidia-nccl-cu12": "2.27.7"}))
    assert facts.found(rule, GPU, tf, _two("12.0"), facts.distributions({"nvidia-nccl-cu12": "2.25.1"}))


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow_release("2.20.0"), _two("9.0"))
    assert facts.silent(rule, GPU, facts.tensorflow_release("2.20.0"), facts.gpus(facts.gpu(compute_capability="12.0")))
    assert facts.silent(rule, GPU, facts.tensorflow(nccl=""), _two("12.0"))
