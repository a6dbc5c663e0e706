"""TFD225 container-lost-gpu-cgroup-reload: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd225_container_lost_gpu_cgroup_reload import container_lost_gpu_cgroup_reload as rule

DOWN = facts.nvml(state="unknown", code=999, error="Unknown Error")


def nodes(error: str) -> object:
    return facts.device_nodes(*(facts.device_node(f"/dev/nvidia{n}", error=error) for n in ("0", "ctl", "-uvm")))


def test_sick() -> None:
    diagnosis = facts.T4_CONTAINER.but(DOWN, nodes("Operation not permitted")).found(rule)
    assert "/dev/nvidiactl" in diagnosis.message and "Operation not permitted" in diagnosis.message


def test_mode_is_another_fault() -> None:
    assert facts.T4_CONTAINER.but(DOWN, nodes("Permission denied")).silent(rule)


def test_not_a_container() -> None:
    assert facts.WORKSTATION.but(DOWN, nodes("Operation not permitted")).silent(rule)


def test_one_gpu_of_two_is_left() -> None:
    some = facts.device_nodes(
        facts.device_node("/dev/nvidiactl"),
        facts.device_node("/dev/nvidia0"),
        facts.device_node("/dev/nvidia1", error="Operation not permitted"),
    )
    assert facts.T4_CONTAINER.but(DOWN, some).silent(rule)


def test_healthy() -> None:
    assert facts.T4_CONTAINER.silent(rule)
