"""TFD110 gpu-memory-defect: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity, Status
from tfdoctor.rules.hardware.tfd110_gpu_memory_defect import gpu_memory_defect as rule

LOG = facts.log_match("gpu-memory-defect", "CUDA_ERROR_LAUNCH_FAILED", (12,))


def test_sick() -> None:
    diagnosis = facts.found(rule, LOG, facts.gpus())
    assert "GPU 0 (NVIDIA GeForce RTX 3090)" in diagnosis.message
    assert diagnosis.severity is Severity.WARNING
    assert "line 12" in diagnosis.evidence[0].says


def test_the_log_alone() -> None:
    assert facts.found(rule, LOG).message


def test_ecc_would_have_told() -> None:
    assert facts.run(rule, LOG, facts.gpus(facts.gpu(ecc=facts.Ecc(True)))).status is Status.NOT_APPLICABLE


def test_not_in_a_check() -> None:
    assert rule.log_only
