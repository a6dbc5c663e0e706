"""TFD520 gpu-arch-newer-than-build: sick, healthy, and at the boundary."""

from __future__ import annotations

from typing import Optional

import facts
import pytest
from arch_faults import found, which
from test_verdict import verdict

from tfdoctor.model import Severity, Status
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow.tfd520_gpu_arch_newer_than_build import gpu_arch_newer_than_build as rule


def test_machine_code_alone() -> None:
    newer = found(rule, "12.0", facts.tensorflow(compute_capabilities=("sm_80", "sm_90")))
    assert "9.0" in newer.message and "12.0" in newer.message and "no PTX" in newer.message and newer.severity is None


@pytest.mark.parametrize("built", [("sm_80", "compute_90"), ("sm_120a",), ("compute_50",)])
def test_with_ptx_or_code_of_its_own(built: tuple[str, ...]) -> None:
    assert "TFD520" not in which("12.0", facts.tensorflow(compute_capabilities=built, cuda="12.9"))


@pytest.mark.parametrize("version", ["2.10.1", "2.15.1", "2.16.2", "2.20.0", "2.21.0"])
@pytest.mark.parametrize("capability", ["10.0", "12.0", "12.1", "13.0"])
def test_official_wheels_hold_ptx_and_their_cuda_does_not_know_the_gpu(capability: str, version: str) -> None:
    release = facts.tensorflow_release(version)
    assert which(capability, release) == ["TFD520"]
    said = found(rule, capability, release)
    assert said.severity is Severity.WARNING and capability in said.message and str(release.cuda) in said.message


@pytest.mark.parametrize("capability", ["10.0", "12.0", "13.0", None])
def test_nobody_says_yes_to_it(capability: Optional[str]) -> None:
    machine = facts.WORKSTATION.but(facts.gpus(facts.gpu(compute_capability=capability)))
    assert verdict(machine).gpu == "unknown"


def test_a_list_that_the_build_does_not_state() -> None:
    assert which("12.0", facts.tensorflow_release("2.20.0", compute_capabilities=())) == ["TFD520"]


def test_ptx_of_a_toolkit_that_knows_the_gpu_is_only_slow() -> None:
    build = facts.tensorflow(compute_capabilities=("sm_80", "compute_100"), cuda="12.8.1")
    assert which("12.0", build) == ["TFD521"]
    assert which("12.1", build) == ["TFD520"]  # first known to CUDA 12.9


@pytest.mark.parametrize("cuda", ["", "of its own"])
def test_a_build_that_does_not_tell_its_cuda(cuda: str) -> None:
    assert status("12.0", facts.tensorflow(cuda=cuda)) is Status.SKIPPED
    assert status("8.6", facts.tensorflow(cuda=cuda)) is Status.OK


def test_a_capability_that_nobody_told() -> None:
    assert status(None, facts.tensorflow()) is Status.SKIPPED
    assert status(None, facts.tensorflow(cuda_build=False)) is Status.OK


def status(capability: Optional[str], build: TensorFlow) -> Status:
    gpus = facts.gpus(facts.gpu(compute_capability=capability))
    return facts.run(rule, facts.gpu_machine(), build, gpus).status
