"""TFD815 gpus-differ-for-mirrored-strategy: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.distributed.tfd815_gpus_differ_for_mirrored_strategy import (
    gpus_differ_for_mirrored_strategy as rule,
)

OLD = facts.gpu(1, name="NVIDIA GeForce GTX 1080", compute_capability="6.1", memory_total=8 * facts.GIB)
MIXED = facts.gpus(facts.gpu(0), OLD)


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), MIXED)
    assert "RTX 3090) (24 GiB)" in diagnosis.message and "GTX 1080) (8 GiB)" in diagnosis.message
    assert diagnosis.fixes[0].environment == (("CUDA_VISIBLE_DEVICES", "0"),)


def test_same_model_with_another_memory() -> None:
    gpus = facts.gpus(facts.gpu(0, memory_total=80 * facts.GIB), facts.gpu(1, memory_total=40 * facts.GIB))
    assert "40 GiB" in facts.found(rule, facts.gpu_machine(), gpus).message


def test_a_few_mib_are_no_difference() -> None:
    gpus = facts.gpus(facts.gpu(0), facts.gpu(1, memory_total=24 * facts.GIB - 300 * facts.MIB))
    assert facts.silent(rule, facts.gpu_machine(), gpus)


def test_only_one_is_visible() -> None:
    env = facts.environment(CUDA_VISIBLE_DEVICES="0")
    assert facts.silent(rule, facts.gpu_machine(), MIXED, env)


def test_the_equal_ones_are_offered() -> None:
    gpus = facts.gpus(facts.gpu(0), OLD, facts.gpu(2))
    assert facts.found(rule, facts.gpu_machine(), gpus).fixes[0].environment == (("CUDA_VISIBLE_DEVICES", "0,2"),)


def test_healthy() -> None:
    assert facts.TWO_3090.silent(rule)
    assert facts.H100_SERVER.silent(rule)
