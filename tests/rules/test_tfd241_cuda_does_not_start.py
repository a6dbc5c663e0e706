"""TFD241 cuda-does-not-start: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.model import Severity, Status
from tfdoctor.rules.driver.tfd241_cuda_does_not_start import cuda_does_not_start as rule
from tfdoctor.verdict import decide


def test_a_code() -> None:
    found = facts.WORKSTATION.but(facts.cuda_fails(999)).found(rule)
    assert "CUDA_ERROR_UNKNOWN (999)" in found.message and "cuInit" in found.message and "lists 1" in found.message
    assert ("modprobe", "nvidia_uvm") in found.fixes[0].commands
    assert found.severity is None


def test_a_code_that_no_table_knows() -> None:
    assert "(4711)" not in facts.WORKSTATION.but(facts.cuda_fails(4711)).found(rule).message
    assert "4711" in facts.WORKSTATION.but(facts.cuda_fails(4711)).found(rule).message


def test_no_device() -> None:
    for cuda in (facts.cuda_fails(100), facts.cuda_driver(0)):
        assert "CUDA finds no GPU" in facts.WORKSTATION.but(cuda).found(rule).message


@pytest.mark.parametrize(
    ("cuda", "text"),
    [
        (facts.cuda_fails(None, state="not-loaded", error="libcuda.so.1: file too short"), "file too short"),
        (facts.cuda_fails(None, state="crashed"), "crashes"),
    ],
)
def test_without_a_code(cuda, text: str) -> None:
    found = facts.WORKSTATION.but(cuda).found(rule)
    assert text in found.message and found.severity is None


def test_what_is_not_certain_is_a_warning() -> None:
    slow = facts.WORKSTATION.but(facts.cuda_fails(None, state="timed-out")).found(rule)
    assert slow.severity is Severity.WARNING and "cuInit" in slow.message
    one = facts.WORKSTATION.but(facts.cuda_fails(999, function="cuDeviceGet", count=2)).found(rule)
    assert one.severity is Severity.WARNING


def test_hidden_gpus_and_mig_without_instance_are_other_faults() -> None:
    assert facts.WORKSTATION.but(facts.cuda_fails(100, unhidden=1)).silent(rule)
    uncut = facts.gpus(facts.gpu(mig=True))
    assert facts.MIG_A100.but(uncut, facts.cuda_fails(100)).silent(rule)
    assert facts.MIG_A100.but(uncut, facts.cuda_fails(999)).found(rule)


def test_what_could_not_be_tried_is_no_yes() -> None:
    cuda = facts.cuda_fails(None, state="unknown", error="python could not be started")
    machine = facts.WORKSTATION.but(cuda)
    assert facts.run(rule, *machine.given, rests=machine.rests).status is Status.SKIPPED


@pytest.mark.parametrize("code", [1, 3, 34, 46, 100, 304, 802, 803, 804, 999])
def test_it_decides_with_every_code(code: int) -> None:
    machine = facts.WORKSTATION.but(facts.cuda_fails(code))
    assert decide(machine.outcomes(), machine.facts()).gpu == "no"


def test_in_a_container_the_host_is_asked() -> None:
    assert "host" in facts.T4_CONTAINER.but(facts.cuda_fails(999)).found(rule).fixes[0].title


def test_under_wsl() -> None:
    assert "WSL" in facts.WSL_LAPTOP.but(facts.cuda_fails(999)).found(rule).fixes[0].title


@pytest.mark.parametrize("machine", facts.HEALTHY, ids=lambda m: m.name)
def test_healthy(machine: facts.Machine) -> None:
    assert machine.silent(rule)
    assert machine.but(facts.cuda_driver(2)).silent(rule)
