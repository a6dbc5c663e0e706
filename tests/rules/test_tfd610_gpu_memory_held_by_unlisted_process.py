"""TFD610 gpu-memory-held-by-unlisted-process: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.configuration.tfd610_gpu_memory_held_by_unlisted_process import (
    gpu_memory_held_by_unlisted_process as rule,
)

GPU = facts.gpu_machine()
HELD = facts.gpus(facts.gpu(memory_used=12 * facts.GIB, processes=()))


def test_nobody_is_listed() -> None:
    found = facts.found(rule, GPU, HELD, facts.platform())
    assert "12288 of 24576 MiB" in found.message and found.fixes[0].commands == (("fuser", "-v", "/dev/nvidia0"),)


def test_in_a_container_others_are_not_seen() -> None:
    assert "other containers" in facts.found(rule, GPU, HELD, facts.platform(), facts.container(kind="docker")).message


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.gpus(), facts.platform())
    assert facts.silent(rule, GPU, facts.gpus(facts.gpu(memory_used=facts.GIB)), facts.platform())


def test_where_the_list_says_nothing() -> None:
    assert facts.silent(rule, GPU, HELD, facts.windows())
    assert facts.silent(rule, GPU, HELD, facts.platform(wsl=2))
    assert facts.silent(rule, GPU, HELD, facts.platform(machine="aarch64"))
    assert facts.silent(rule, GPU, facts.gpus(facts.gpu(memory_used=12 * facts.GIB, processes=None)), facts.platform())
