"""TFD804 p2p-not-supported-by-gpu: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.distributed.tfd804_p2p_not_supported_by_gpu import p2p_not_supported_by_gpu as rule


def test_sick() -> None:
    topology = facts.topology({(0, 1): "PHB"}, {(0, 1): "GNS"})
    diagnosis = facts.found(rule, facts.gpu_machine(), topology)
    assert "GPU 0 and GPU 1" in diagnosis.message and "GNS" in diagnosis.message
    assert rule.severity is Severity.INFO


def test_chipset() -> None:
    assert "CNS" in facts.found(rule, facts.gpu_machine(), facts.topology({(0, 1): "SYS"}, {(0, 1): "CNS"})).message


def test_healthy_and_not_told() -> None:
    assert facts.TWO_3090.silent(rule)
    assert facts.silent(rule, facts.gpu_machine(), facts.topology({(0, 1): "PHB"}, {(0, 1): "U"}))
