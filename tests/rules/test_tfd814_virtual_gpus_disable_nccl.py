"""TFD814 virtual-gpus-disable-nccl: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.distributed.tfd814_virtual_gpus_disable_nccl import virtual_gpus_disable_nccl as rule


def test_harmless() -> None:
    diagnosis = facts.found(rule, facts.log_match("virtual-gpus-disable-nccl", "virtual GPUs", (2,)))
    assert "logical devices" in diagnosis.message
    assert rule.severity is Severity.INFO and rule.log_only
