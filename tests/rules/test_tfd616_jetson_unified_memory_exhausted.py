"""TFD616 jetson-unified-memory-exhausted: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.probes.surroundings import Jetson
from tfdoctor.rules.configuration.tfd616_jetson_unified_memory_exhausted import jetson_unified_memory_exhausted as rule

NANO = facts.jetson(model="NVIDIA Jetson Nano")


def test_hardly_any_is_free() -> None:
    found = facts.found(rule, NANO, facts.memory(total=4 * facts.GIB, available=300 * facts.MIB))
    assert "300 of 4096 MiB" in found.message and "Jetson Nano" in found.message


def test_healthy() -> None:
    assert facts.silent(rule, NANO, facts.memory(total=4 * facts.GIB, available=facts.GIB))


def test_rests_elsewhere() -> None:
    assert facts.silent(rule, facts.memory(available=1), rests={Jetson: "this is not a Jetson"})
