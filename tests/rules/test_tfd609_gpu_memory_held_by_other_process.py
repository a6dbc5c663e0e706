"""TFD609 gpu-memory-held-by-other-process: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.configuration.tfd609_gpu_memory_held_by_other_process import (
    gpu_memory_held_by_other_process as rule,
)

GPU = facts.gpu_machine()
HOLDER = facts.GpuProcess(4711, 23 * facts.GIB, "python", "this user", "compute")


def test_nearly_full() -> None:
    found = facts.found(rule, GPU, facts.gpus(facts.gpu(memory_used=23 * facts.GIB, processes=(HOLDER,))))
    assert "23552 of 24576 MiB" in found.message and "PID 4711" in found.message and "this user" in found.message


def test_half_full_is_shared() -> None:
    assert facts.silent(rule, GPU, facts.gpus(facts.gpu(memory_used=12 * facts.GIB, processes=(HOLDER,))))


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.gpus())


def test_unknown_or_split_says_nothing() -> None:
    full = facts.gpu(memory_used=23 * facts.GIB, processes=None)
    assert facts.silent(rule, GPU, facts.gpus(full))
    assert facts.silent(rule, GPU, facts.gpus(facts.gpu(memory_used=23 * facts.GIB, processes=(HOLDER,), mig=True)))
