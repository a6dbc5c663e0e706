"""TFD240 driver-library-missing: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules.driver.tfd240_driver_library_missing import driver_library_missing as rule
from tfdoctor.verdict import decide

NONE = facts.driver_library(picked=None, how="", others=())
STUB = facts.library_file("/usr/local/cuda/lib64/stubs/libcuda.so.1", "", origin="stub")


def test_a_host_lacks_the_package() -> None:
    found = facts.WORKSTATION.but(NONE).found(rule)
    assert "libcuda.so.1 is not found" in found.message
    assert found.fixes[0].commands == (("apt-get", "install", "libnvidia-compute-550"),)
    assert "550.107.02" in found.fixes[0].note


def test_it_decides() -> None:
    machine = facts.WORKSTATION.but(NONE)
    verdict = decide(machine.outcomes(), machine.facts())
    assert (verdict.gpu, verdict.because) == ("no", "driver-library-missing")


def test_a_copy_that_is_no_use_is_named() -> None:
    old = facts.library_file("/usr/lib/i386-linux-gnu/libcuda.so.1", "550.107.02", origin="system")
    assert (
        old.path in facts.WORKSTATION.but(facts.driver_library(picked=None, how="", others=(old,))).found(rule).message
    )


def test_a_stub_is_no_driver_library() -> None:
    assert STUB.path in facts.WORKSTATION.but(facts.driver_library(picked=STUB)).found(rule).message


def test_hidden_by_a_stub_is_another_fault() -> None:
    own = facts.library_file("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "550.107.02", origin="system")
    assert facts.WORKSTATION.but(facts.driver_library(picked=STUB, others=(own,))).silent(rule)


def test_a_container_without_compute() -> None:
    env = facts.environment(NVIDIA_DRIVER_CAPABILITIES="utility")
    found = facts.T4_CONTAINER.but(NONE, env).found(rule)
    assert "NVIDIA_DRIVER_CAPABILITIES" in found.message and '"utility"' in found.message
    assert "NVIDIA_DRIVER_CAPABILITIES=compute,utility" in found.fixes[0].commands[0]


@pytest.mark.parametrize("value", ["compute,utility", "all", ""])
def test_a_container_with_compute_lacks_it_for_another_reason(value: str) -> None:
    found = facts.T4_CONTAINER.but(NONE, facts.environment(NVIDIA_DRIVER_CAPABILITIES=value)).found(rule)
    assert "is not found" in found.message


def test_a_driver_that_does_not_come_up_is_another_fault() -> None:
    assert facts.WORKSTATION.but(NONE, facts.nvml(state="driver-not-loaded", code=9), without=(Gpus,)).silent(rule)


def test_wsl_has_its_own() -> None:
    assert facts.WSL_LAPTOP.but(NONE).silent(rule)


def test_cuda_that_starts_settles_it() -> None:
    assert facts.WORKSTATION.but(facts.driver_library(picked=STUB), facts.cuda_driver()).silent(rule)


@pytest.mark.parametrize("machine", facts.HEALTHY, ids=lambda m: m.name)
def test_healthy(machine: facts.Machine) -> None:
    assert machine.silent(rule)
