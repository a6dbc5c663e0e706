"""TFD813 non-gpu-devices-no-nccl: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.distributed.tfd813_non_gpu_devices_no_nccl import non_gpu_devices_no_nccl as rule

LOG = facts.log_match("non-gpu-devices-no-nccl", "There are non-GPU devices", (2,))


def test_sick() -> None:
    assert "(1 GPUs" in facts.found(rule, LOG, facts.gpus()).message


def test_the_log_alone() -> None:
    assert facts.found(rule, LOG).message
    assert rule.log_only
