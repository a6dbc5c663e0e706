"""TFD119 nvlink-fewer-than-siblings: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.hardware.tfd119_nvlink_fewer_than_siblings import nvlink_fewer_than_siblings as rule


def with_links(index: int, up: int, **changes: object) -> object:
    links = tuple(facts.NvLink(i, True, 4, "", "switch") if i < up else facts.NvLink(i, False) for i in range(18))
    return facts.gpu(index, name="NVIDIA H100 80GB HBM3", nvlinks=links, **changes)


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), facts.gpus(with_links(0, 18), with_links(1, 0)))  # type: ignore[arg-type]
    assert "GPU 1 (NVIDIA H100 80GB HBM3) has 0 NVLinks up" in diagnosis.message and "18" in diagnosis.message


def test_folds_under_the_named_link() -> None:
    from tfdoctor.rules.hardware.tfd118_nvlink_link_inactive import nvlink_link_inactive

    machine = facts.H100_SERVER.but(facts.gpus(with_links(0, 18), with_links(1, 17)))  # type: ignore[arg-type]
    assert machine.codes(rule, nvlink_link_inactive) == {"TFD118": None, "TFD119": "TFD118"}


def test_mig_switches_nvlink_off() -> None:
    gpus = facts.gpus(with_links(0, 18), with_links(1, 0, mig=True))  # type: ignore[arg-type]
    assert facts.silent(rule, facts.gpu_machine(), gpus)


def test_a_card_without_a_bridge_is_a_choice() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus(facts.bridged(0), facts.bridged(1), facts.gpu(2)))


def test_healthy() -> None:
    assert facts.H100_SERVER.silent(rule)
