"""TFD202 driver-library-kernel-mismatch: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.rules.driver.tfd202_driver_library_kernel_mismatch import driver_library_kernel_mismatch as rule

DOWN = facts.nvml(state="version-mismatch", code=18, error="Driver/library version mismatch", library_version="550.120")
NEW = facts.installed_driver(library_versions=frozenset({"550.120"}))


def test_sick() -> None:
    newer = facts.kernel_module_file(version="550.120")
    diagnosis = facts.WORKSTATION.but(DOWN, NEW, newer).found(rule)
    assert "550.107.02" in diagnosis.message and "550.120" in diagnosis.message


def test_without_nvml_the_files_tell() -> None:
    from tfdoctor.probes.libraries import DriverLibrary
    from tfdoctor.probes.nvml import Nvml

    machine = facts.WORKSTATION.but(NEW, facts.kernel_module_file(version="550.120"), without=(Nvml, DriverLibrary))
    assert "550.120" in machine.found(rule).message


def test_not_rebuilt_is_another_fault() -> None:
    assert facts.WORKSTATION.but(DOWN, NEW).silent(rule)


def test_a_driver_that_answers_is_fine() -> None:
    assert facts.WORKSTATION.but(NEW).silent(rule)


def test_wsl_shows_two_numbers() -> None:
    assert facts.WSL_LAPTOP.but(facts.nvml(state="unknown", library_version="560.35.02")).silent(rule)


@pytest.mark.parametrize("place", [facts.container(kind="docker"), facts.platform(wsl=2)])
def test_in_a_container_the_image_is_at_fault_and_in_wsl_windows(place: object) -> None:
    assert facts.WORKSTATION.but(DOWN, NEW, facts.kernel_module_file(version="550.120"), place).silent(rule)


def test_two_installations_side_by_side_count_by_the_drivers_own_word() -> None:
    both = facts.installed_driver(library_versions=frozenset({"550.107.02", "550.120"}))
    silent = facts.nvml(state="unknown", code=999, library_version="")
    machine = facts.WORKSTATION.but(both, facts.kernel_module_file(version="550.120"))
    assert machine.but(silent).silent(rule)
    assert "libraries are 550.120" in machine.but(DOWN).found(rule).message


@pytest.mark.parametrize("origin", ["compat", "stub"])
def test_a_libcuda_that_is_not_the_drivers_own_is_another_fault(origin: str) -> None:
    picked = facts.driver_library(picked=facts.library_file("/x/libcuda.so.1", "550.120", origin=origin))
    none = facts.installed_driver(library_versions=frozenset())
    machine = facts.WORKSTATION.but(none, picked, facts.nvml(state="unknown", code=999, library_version=""))
    machine = machine.but(facts.nvidia_smi(version="", problem="failed"))
    assert machine.silent(rule)


def test_two_parts_are_the_same_version() -> None:
    down = facts.nvml(state="unknown", code=999, library_version="550.107")
    assert facts.WORKSTATION.but(down).silent(rule)


def test_cuda_says_it_while_nvml_works() -> None:
    old = facts.driver_library(picked=facts.library_file("/opt/old/libcuda.so.1", "535.54.03", origin="other"))
    env = facts.environment(LD_LIBRARY_PATH="/opt/old/:/opt/lib")
    found = facts.WORKSTATION.but(old, env, facts.cuda_fails(803)).found(rule)
    assert "550.107.02" in found.message and "/opt/old/libcuda.so.1 is 535.54.03" in found.message
    assert "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)" in found.evidence[0].says
    assert found.fixes[0].environment == (("LD_LIBRARY_PATH", "/opt/lib"),)


def test_cuda_says_it_of_the_systems_own_libcuda() -> None:
    found = facts.WORKSTATION.but(facts.cuda_fails(803)).found(rule)
    assert "of another version" in found.message and "install the driver again" in found.fixes[0].title


def test_cuda_that_starts_has_no_mismatch() -> None:
    assert facts.WORKSTATION.but(DOWN, NEW, facts.kernel_module_file(version="550.120"), facts.cuda_driver()).silent(
        rule
    )
    assert facts.WORKSTATION.but(facts.cuda_fails(999)).silent(rule)
