"""TFD603 cuda-order-differs-from-nvidia-smi: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.configuration.tfd603_cuda_order_differs_from_nvidia_smi import (
    cuda_order_differs_from_nvidia_smi as rule,
)

GPU = facts.gpu_machine(count=2)
MIXED = facts.gpus(facts.gpu(0, name="NVIDIA T400"), facts.gpu(1, name="NVIDIA GeForce RTX 3090"))


def test_two_models() -> None:
    found = facts.found(rule, GPU, facts.environment(), MIXED)
    assert "T400" in found.message and "RTX 3090" in found.message and found.severity is None
    assert found.fixes[0].environment == (("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),)


def test_chosen_by_index_is_a_warning() -> None:
    found = facts.found(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES="0"), MIXED)
    assert found.severity is Severity.WARNING and "CUDA_VISIBLE_DEVICES=0" in found.message


def test_chosen_by_uuid_is_not() -> None:
    found = facts.found(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES="GPU-1"), MIXED)
    assert found.severity is None


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.environment(CUDA_DEVICE_ORDER="PCI_BUS_ID"), MIXED)
    assert facts.silent(rule, GPU, facts.environment(), facts.gpus(facts.gpu(0), facts.gpu(1)))
    assert facts.silent(rule, GPU, facts.environment(), facts.gpus())
