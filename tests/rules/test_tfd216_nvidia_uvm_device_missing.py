"""TFD216 nvidia-uvm-device-missing: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.kernel_driver import InstalledDriver
from tfdoctor.rules.driver.tfd216_nvidia_uvm_device_missing import nvidia_uvm_device_missing as rule
from tfdoctor.verdict import decide

WITHOUT = facts.device_nodes(facts.device_node("/dev/nvidia0"), facts.device_node("/dev/nvidiactl"))


def test_in_a_container() -> None:
    diagnosis = facts.T4_CONTAINER.but(WITHOUT).found(rule)
    assert "/dev/nvidia0" in diagnosis.message and "/dev/nvidia-uvm" in diagnosis.message


def test_on_a_host_something_may_still_make_it() -> None:
    """Also where packages could not be listed: never silent."""
    for installed in (facts.installed_driver(), facts.installed_driver(packages={}, packages_seen=False)):
        found = facts.WORKSTATION.but(WITHOUT, installed).found(rule)
        assert found.severity is Severity.WARNING and "yet" in found.message
    machine = facts.WORKSTATION.but(WITHOUT, without=(InstalledDriver,))
    assert machine.found(rule).severity is Severity.WARNING
    assert decide(machine.outcomes(), machine.facts()).gpu == "unknown"


def test_cuda_that_fails_makes_it_certain() -> None:
    modprobe = facts.installed_driver(modprobe=True)
    machine = facts.WORKSTATION.but(WITHOUT, modprobe, facts.cuda_fails(999))
    assert machine.found(rule).severity is None and "(999)" in machine.found(rule).evidence[-1].says
    verdict = decide(machine.outcomes(), machine.facts())
    assert (verdict.gpu, verdict.because) == ("no", "nvidia-uvm-device-missing")
    assert machine.codes()["TFD241"] == "TFD216"


def test_cuda_that_starts_needs_nothing() -> None:
    assert facts.WORKSTATION.but(WITHOUT, facts.cuda_driver()).silent(rule)
    assert facts.T4_CONTAINER.but(WITHOUT, facts.cuda_driver()).silent(rule)


def test_nvidia_modprobe_makes_it() -> None:
    installed = facts.installed_driver(packages={"nvidia-driver-550": "1", "nvidia-modprobe": "1"})
    assert facts.WORKSTATION.but(WITHOUT, installed).silent(rule)
    assert facts.WORKSTATION.but(WITHOUT, facts.installed_driver(packages={}, modprobe=True)).silent(rule)


def test_no_gpu_at_all_is_another_fault() -> None:
    assert facts.T4_CONTAINER.but(DeviceNodes((), "/dev")).silent(rule)


def test_healthy() -> None:
    assert facts.WORKSTATION.silent(rule)
    assert facts.WSL_LAPTOP.silent(rule)
