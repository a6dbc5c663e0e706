"""TFD204 driver-too-old-for-ptx: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.model import Severity
from tfdoctor.rules.driver.tfd204_driver_too_old_for_ptx import driver_too_old_for_ptx as rule
from tfdoctor.rules.driver.tfd204_driver_too_old_for_ptx import needs_ptx
from tfdoctor.verdict import decide

H100 = facts.gpus(facts.gpu(name="NVIDIA H100 PCIe", compute_capability="9.0"))


def machine(version: str, cuda: str, gpus: object = H100) -> facts.Machine:
    return facts.WORKSTATION.but(gpus, facts.driver(version=version, cuda=cuda))


def test_sick() -> None:
    diagnosis = machine("535.183.01", "12.2").found(rule)
    assert "NVIDIA H100 PCIe" in diagnosis.message
    assert "8.5" in diagnosis.message and "12.5" in diagnosis.message and "535.183.01" in diagnosis.message
    assert diagnosis.gpus == (0,)


def test_boundary() -> None:
    assert machine("555.42.02", "12.5").silent(rule)
    assert machine("550.107.02", "12.4").found(rule)


def test_machine_code_needs_no_compiling() -> None:
    assert machine("525.60.13", "12.0", facts.gpus()).silent(rule)


def test_without_the_api_version_the_branch_tells() -> None:
    assert machine("535.183.01", "").found(rule)
    assert machine("580.65.06", "").silent(rule)


def test_build_not_measured() -> None:
    tf = facts.tensorflow(version="2.20.0.dev1", in_table=False)
    assert machine("535.183.01", "12.2").but(tf).found(rule)


def test_is_a_warning_that_does_not_decide() -> None:
    assert rule.severity is Severity.WARNING
    sick = machine("535.183.01", "12.2").but(facts.kernel_driver(loaded_version="535.183.01"))
    assert sick.found(rule).severity is None
    assert decide(sick.outcomes(rule), sick.facts()).gpu == "yes"


def test_unknown_code() -> None:
    tf = facts.tensorflow(version="9.9.0", compute_capabilities=(), ptx_isa="", in_table=False)
    assert machine("535.183.01", "12.2").but(tf).silent(rule)


@pytest.mark.parametrize(
    ("compute_capability", "codes", "needs"),
    [
        ("8.6", ("sm_86", "compute_50"), False),
        ("8.9", ("sm_80", "compute_80"), False),
        ("9.0", ("sm_86", "compute_86"), True),
        ("9.0", ("sm_86", "compute_90"), True),
        ("8.0", ("sm_86", "compute_80"), True),
        ("9.0", ("sm_86",), False),
        ("7.5", ("sm_86", "compute_80"), False),
        ("", ("compute_80",), False),
        ("9.0", (), False),
    ],
)
def test_which_gpus_have_to_compile(compute_capability: str, codes: tuple[str, ...], needs: bool) -> None:
    assert needs_ptx(compute_capability, codes) is needs
