"""TFD217 device-node-permission: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd217_device_node_permission import device_node_permission as rule


def closed(*paths: str, error: str = "Permission denied") -> object:
    names = ("/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm")
    return facts.device_nodes(
        *(facts.device_node(n, mode=0o660, gid=44, group="video", error=error if n in paths else "") for n in names)
    )


def test_sick() -> None:
    diagnosis = facts.WORKSTATION.but(closed("/dev/nvidiactl")).found(rule)
    assert "/dev/nvidiactl" in diagnosis.message and "660" in diagnosis.message and "video" in diagnosis.message
    assert diagnosis.fixes[0].commands == (("usermod", "-aG", "video", "USER"),)


def test_every_gpu_closed() -> None:
    assert "/dev/nvidia0" in facts.WORKSTATION.but(closed("/dev/nvidia0")).found(rule).message


def test_one_of_two_gpus_closed_leaves_the_other() -> None:
    open_one = facts.device_node("/dev/nvidia1")
    shut = facts.device_node("/dev/nvidia0", error="Permission denied")
    nodes = facts.device_nodes(
        shut, open_one, facts.device_node("/dev/nvidiactl"), facts.device_node("/dev/nvidia-uvm")
    )
    assert facts.WORKSTATION.but(nodes).silent(rule)


def test_a_cgroup_is_another_fault() -> None:
    assert facts.WORKSTATION.but(closed("/dev/nvidiactl", error="Operation not permitted")).silent(rule)


def test_not_tried() -> None:
    nodes = facts.device_nodes(facts.device_node("/dev/nvidiactl", mode=0o660, error=None))
    assert facts.WORKSTATION.but(nodes).silent(rule)


def test_container_gets_the_group() -> None:
    assert "--group-add" in facts.T4_CONTAINER.but(closed("/dev/nvidiactl")).found(rule).fixes[0].commands[0]


def test_cuda_that_starts_may_open_them() -> None:
    closed = facts.device_nodes(facts.device_node("/dev/nvidiactl", mode=0o660, error="Permission denied"))
    assert facts.WORKSTATION.but(closed, facts.cuda_driver()).silent(rule)
    machine = facts.WORKSTATION.but(closed, facts.cuda_fails(100))
    assert machine.codes()["TFD241"] == "TFD217"
