"""TFD615 gpu-busy-by-other-process: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.configuration.tfd615_gpu_busy_by_other_process import gpu_busy_by_other_process as rule

GPU = facts.gpu_machine()
WORK = facts.GpuProcess(4711, facts.GIB, "python", "another user", "compute")


def test_busy() -> None:
    found = facts.found(rule, GPU, facts.gpus(facts.gpu(utilization=97, processes=(WORK,))))
    assert "97 %" in found.message and "python" in found.message


def test_at_the_limit() -> None:
    assert facts.silent(rule, GPU, facts.gpus(facts.gpu(utilization=10, processes=(WORK,))))


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.gpus())
    desktop = facts.GpuProcess(1, facts.GIB, "Xorg", "another user", "graphics")
    assert facts.silent(rule, GPU, facts.gpus(facts.gpu(utilization=40, processes=(desktop,))))
    assert facts.silent(rule, GPU, facts.gpus(facts.gpu(utilization=None, processes=(WORK,))))
