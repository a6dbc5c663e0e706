"""TFD604 compute-mode-exclusive: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.configuration.tfd604_compute_mode_exclusive import compute_mode_exclusive as rule

GPU = facts.gpu_machine()
OWNER = facts.GpuProcess(4711, 100, "python", "another user", "compute")


def test_prohibited() -> None:
    found = facts.found(rule, GPU, facts.gpus(facts.gpu(compute_mode="prohibited")))
    assert "Prohibited" in found.message and "Default" in found.message and found.severity is None
    assert found.fixes[0].commands == (("nvidia-smi", "-i", "0", "-c", "DEFAULT"),) and "root" in found.fixes[0].needs


def test_exclusive_and_taken() -> None:
    found = facts.found(rule, GPU, facts.gpus(facts.gpu(compute_mode="exclusive-process", processes=(OWNER,))))
    assert "Exclusive Process" in found.message and found.severity is None


def test_exclusive_and_free_is_only_mentioned() -> None:
    found = facts.found(rule, GPU, facts.gpus(facts.gpu(compute_mode="exclusive-process")))
    assert found.severity is Severity.INFO


def test_one_of_two() -> None:
    found = facts.found(rule, GPU, facts.gpus(facts.gpu(0), facts.gpu(1, compute_mode="prohibited")))
    assert found.gpus == (1,)


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.gpus())
    assert facts.silent(rule, GPU, facts.gpus(facts.gpu(compute_mode=None)))
