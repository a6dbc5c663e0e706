"""TFD203 driver-too-old: sick, healthy, and at the boundary."""

from __future__ import annotations

from typing import Any

import facts
import pytest

from tfdoctor.rules.driver.tfd203_driver_too_old import driver_too_old as rule


def test_sick() -> None:
    diagnosis = facts.WORKSTATION.but(facts.driver(version="470.82.01", cuda="11.4")).found(rule)
    assert "470.82.01" in diagnosis.message and "525.60.13" in diagnosis.message
    assert diagnosis.severity is None


@pytest.mark.parametrize(("version", "old"), [("525.60.12", True), ("525.60.13", False), ("610.99", False)])
def test_boundary(version: str, old: bool) -> None:
    assert facts.WORKSTATION.but(facts.driver(version=version)).silent(rule) is not old


def test_minor_version_compatibility() -> None:
    """CUDA 11.8 has its own driver at 520.61.05, and the family needs 450.80.02 only."""
    tf = facts.tensorflow_release("2.12.0")
    assert facts.WORKSTATION.but(tf, facts.driver(version="450.80.02", cuda="11.0")).silent(rule)
    assert "450.80.02" in facts.WORKSTATION.but(tf, facts.driver(version="440.33.01", cuda="10.2")).found(rule).message


def test_windows_numbers_under_wsl() -> None:
    assert facts.WSL_LAPTOP.but(facts.driver(version="527.41")).silent(rule)
    assert "527.41" in facts.WSL_LAPTOP.but(facts.driver(version="516.59")).found(rule).message


OLD = facts.driver(version="470.82.01", cuda="11.4")


def test_another_release_that_fits_is_offered() -> None:
    """2.14.1 with its extra: TensorRT's packages, which the extra names, can be installed on Python 3.9 and 3.10."""
    fixes = facts.WORKSTATION.but(OLD, facts.interpreter(version="3.10.12")).found(rule).fixes
    assert fixes[1].requirements == ("tensorflow==2.14.1",)


def test_what_pip_alone_cannot_make_work_is_no_command() -> None:
    fix = facts.WORKSTATION.but(OLD, facts.interpreter(version="3.11.7")).found(rule).fixes[1]
    assert fix.requirements == () and "2.14.1" in fix.title and "CUDA 11.8" in fix.title and "cuDNN 8.7" in fix.title


def test_no_release_for_this_python_is_no_fix() -> None:
    assert len(facts.WORKSTATION.but(OLD, facts.interpreter(version="3.13.1")).found(rule).fixes) == 1


def test_cuda_compat_helps() -> None:
    compat = facts.library_file("/usr/local/cuda/compat/libcuda.so.1", "550.54.15", origin="compat")
    old = facts.driver(version="470.82.01", cuda="11.4")
    assert facts.WORKSTATION.but(old, facts.driver_library(picked=compat)).silent(rule)


def test_cpu_build_needs_no_driver() -> None:
    machine = facts.WORKSTATION.but(facts.driver(version="390.48"), facts.tensorflow(cuda_build=False, cuda=""))
    assert machine.silent(rule)


@pytest.mark.parametrize("build", [{"cuda_build": None}, {"cuda": ""}])
def test_a_build_that_names_no_cuda_needs_no_driver(build: dict[str, Any]) -> None:
    old = facts.driver(version="390.157", cuda="9.1")
    assert facts.WORKSTATION.but(old, facts.tensorflow(**build)).silent(rule)
