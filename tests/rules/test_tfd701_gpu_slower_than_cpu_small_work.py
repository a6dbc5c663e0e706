"""TFD701 gpu-slower-than-cpu-small-work: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.speed.tfd701_gpu_slower_than_cpu_small_work import gpu_slower_than_cpu_small_work as rule

LOG = facts.log_match("gpu-slower-than-cpu-small-work", "", (3,))


def test_sick() -> None:
    diagnosis = facts.found(rule, LOG, facts.gpus(facts.gpu(utilization=7)))
    assert "GPU 0 (NVIDIA GeForce RTX 3090)" in diagnosis.message
    assert "7 %" in diagnosis.evidence[1].says


def test_the_log_alone() -> None:
    assert facts.found(rule, LOG).message
    assert rule.log_only
