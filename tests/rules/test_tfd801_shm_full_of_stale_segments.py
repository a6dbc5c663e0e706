"""TFD801 shm-full-of-stale-segments: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.distributed.tfd801_shm_full_of_stale_segments import shm_full_of_stale_segments as rule


def full(free: int) -> object:
    return facts.shm(
        total=64 * facts.MIB, free=free, stale=("/dev/shm/nccl-a", "/dev/shm/nccl-b"), stale_bytes=60 * facts.MIB
    )


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), full(4 * facts.MIB))
    assert (
        "2 NCCL segments" in diagnosis.message and "60 MiB" in diagnosis.message and "4 of 64 MiB" in diagnosis.message
    )
    assert diagnosis.severity is None
    assert diagnosis.fixes[0].commands == (("rm", "/dev/shm/nccl-a", "/dev/shm/nccl-b"),)


def test_room_is_left() -> None:
    assert facts.found(rule, facts.gpu_machine(), full(facts.GIB)).severity is Severity.INFO


def test_healthy() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.shm())
