"""TFD703 mixed-precision-without-tensor-cores: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.speed.tfd703_mixed_precision_without_tensor_cores import (
    mixed_precision_without_tensor_cores as rule,
)


def card(name: str, cc: str) -> object:
    return facts.gpus(facts.gpu(name=name, compute_capability=cc))


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), card("NVIDIA GeForce GTX 1080 Ti", "6.1"))
    assert "6.1" in diagnosis.message and "7.0" in diagnosis.message
    assert rule.severity is Severity.INFO


def test_gtx_16_has_7_5_and_no_tensor_cores() -> None:
    assert "7.5" in facts.found(rule, facts.gpu_machine(), card("NVIDIA GeForce GTX 1660", "7.5")).message


def test_boundary() -> None:
    assert facts.silent(rule, facts.gpu_machine(), card("Tesla V100-SXM2-16GB", "7.0"))
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus())


def test_not_known() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus(facts.gpu(name="Mystery", compute_capability=None)))
