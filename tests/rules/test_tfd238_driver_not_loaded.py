"""TFD238 driver-not-loaded: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.model import Status
from tfdoctor.probes.nvml import Gpus, Nvml
from tfdoctor.rules.driver.tfd238_driver_not_loaded import driver_not_loaded as rule

DOWN = facts.nvml(state="driver-not-loaded", code=9, error="Driver Not Loaded", library_version="")
OUT = facts.kernel_driver(loaded_version="", modules=frozenset(), flavour="")


def test_sick() -> None:
    diagnosis = facts.WORKSTATION.but(DOWN, OUT, without=(Gpus,)).found(rule)
    assert "0000:01:00.0" in diagnosis.message and "Driver Not Loaded" in diagnosis.message


def test_the_kernel_alone_tells() -> None:
    assert facts.WORKSTATION.but(OUT, without=(Nvml, Gpus)).found(rule)
    assert facts.WORKSTATION.but(without=(Nvml, Gpus)).silent(rule)


def test_a_recording_with_nvidia_smi_alone() -> None:
    smi = facts.nvidia_smi(problem="driver-not-loaded", code=9)
    assert "driver-not-loaded" in facts.found(rule, facts.gpu_machine(), smi).message
    assert facts.silent(rule, facts.gpu_machine(), facts.nvidia_smi(problem="missing", code=None))


def test_host_of_a_container() -> None:
    machine = facts.T4_CONTAINER.but(DOWN, OUT, without=(Gpus,))
    assert "container's host" in machine.found(rule).message


def test_without_nvml_cuda_may_still_work() -> None:
    """NVIDIA_DRIVER_CAPABILITIES=compute leaves NVML out of a container and CUDA in."""
    machine = facts.T4_CONTAINER.but(facts.nvml(state="library-missing", code=12), without=(Gpus,))
    assert facts.run(rule, *machine.given, rests=machine.rests).status is Status.SKIPPED


def test_cuda_was_tried_and_settles_it() -> None:
    bare = facts.T4_CONTAINER.but(facts.nvml(state="library-missing", code=12), without=(Gpus,))
    assert bare.but(facts.cuda_driver()).silent(rule)


def test_a_driver_that_is_loaded_is_another_fault() -> None:
    for state in ("unknown", "no-permission", "driver-not-loaded"):
        assert facts.WORKSTATION.but(facts.nvml(state=state, code=999), without=(Gpus,)).silent(rule)


def test_a_driver_that_hangs_is_another_fault() -> None:
    assert facts.WORKSTATION.but(facts.nvml(state="timed-out", code=None), without=(Gpus,)).silent(rule)


def test_jetson() -> None:
    assert facts.WORKSTATION.but(DOWN, OUT, facts.jetson(), without=(Gpus,)).silent(rule)


@pytest.mark.parametrize("machine", facts.MACHINES, ids=lambda m: m.name)
def test_healthy(machine: facts.Machine) -> None:
    assert machine.silent(rule)


def test_folds_under_the_particular_reason() -> None:
    machine = facts.WORKSTATION.but(
        DOWN,
        facts.kernel_driver(loaded_version="", modules=frozenset({"nouveau"})),
        facts.pci(facts.pci_device(driver="nouveau")),
        without=(Gpus,),
    )
    assert machine.codes()["TFD238"] == "TFD210"
