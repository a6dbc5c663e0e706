"""TFD118 nvlink-link-inactive: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.hardware.tfd118_nvlink_link_inactive import nvlink_link_inactive as rule


def with_links(index: int, up: int) -> object:
    links = tuple(facts.NvLink(i, True, 4, "", "switch") if i < up else facts.NvLink(i, False) for i in range(18))
    return facts.gpu(index, name="NVIDIA H100 80GB HBM3", nvlinks=links)


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), facts.gpus(with_links(0, 18), with_links(1, 16)))  # type: ignore[arg-type]
    assert "NVLinks 16 and 17 are down; 16 are up, and 18" in diagnosis.message
    assert diagnosis.gpus == (1,)


def test_healthy() -> None:
    assert facts.H100_SERVER.silent(rule)


def test_none_up_is_the_other_diagnosis() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus(with_links(0, 18), with_links(1, 0)))  # type: ignore[arg-type]


def test_bridges_are_not_compared() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus(facts.bridged(0), facts.bridged(1, links=2)))
