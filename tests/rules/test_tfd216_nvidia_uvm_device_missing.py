"""TFD216 nvidia-uvm-device-missing: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Status
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.rules.driver.tfd216_nvidia_uvm_device_missing import nvidia_uvm_device_missing as rule

WITHOUT = facts.device_nodes(facts.device_node("/dev/nvidia0"), facts.device_node("/dev/nvidiactl"))


def test_in_a_container() -> None:
    diagnosis = facts.T4_CONTAINER.but(WITHOUT).found(rule)
    assert "/dev/nvidia0" in diagnosis.message and "/dev/nvidia-uvm" in diagnosis.message


def test_on_a_host_something_may_still_make_it() -> None:
    assert facts.run(rule, *facts.WORKSTATION.but(WITHOUT).given).status is Status.SKIPPED


def test_nvidia_modprobe_makes_it() -> None:
    installed = facts.installed_driver(packages={"nvidia-driver-550": "1", "nvidia-modprobe": "1"})
    assert facts.WORKSTATION.but(WITHOUT, installed).silent(rule)


def test_no_gpu_at_all_is_another_fault() -> None:
    assert facts.T4_CONTAINER.but(DeviceNodes((), "/dev")).silent(rule)


def test_healthy() -> None:
    assert facts.WORKSTATION.silent(rule)
    assert facts.WSL_LAPTOP.silent(rule)
