"""TFD223 docker-libcuda-host-mismatch: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd223_docker_libcuda_host_mismatch import docker_libcuda_host_mismatch as rule


def image(version: str, origin: str = "image") -> object:
    path = "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
    return facts.driver_library(picked=facts.library_file(path, version, origin=origin))


def test_sick() -> None:
    diagnosis = facts.T4_CONTAINER.but(image("535.183.01")).found(rule)
    assert "535.183.01" in diagnosis.message and "550.107.02" in diagnosis.message


def test_newer_compat_is_what_it_is_for() -> None:
    assert facts.T4_CONTAINER.but(image("560.28.03", "compat")).silent(rule)


def test_older_compat() -> None:
    assert facts.T4_CONTAINER.but(image("535.54.03", "compat")).found(rule)


def test_compat_on_a_geforce_has_its_own_diagnosis() -> None:
    assert facts.T4_CONTAINER.but(image("535.54.03", "compat"), facts.gpus()).silent(rule)


def test_nvml_says_so() -> None:
    down = facts.nvml(
        state="version-mismatch", code=18, error="Driver/library version mismatch", library_version="535.183"
    )
    assert "535.183" in facts.T4_CONTAINER.but(down).found(rule).message


def test_healthy_and_elsewhere() -> None:
    assert facts.T4_CONTAINER.silent(rule)
    assert facts.WORKSTATION.but(image("535.183.01")).silent(rule)
    assert facts.T4_CONTAINER.but(image("")).silent(rule)


def test_cuda_says_it() -> None:
    image = facts.driver_library(picked=facts.library_file("/opt/x/libcuda.so.1", "", origin="pip"))
    found = facts.T4_CONTAINER.but(image, facts.cuda_fails(803)).found(rule)
    assert "of another version" in found.message and "550.107.02" in found.message
    assert any("(803)" in e.says for e in found.evidence)
    assert facts.T4_CONTAINER.but(facts.cuda_fails(999)).silent(rule)


def test_cuda_says_it_of_a_library_that_names_the_hosts_version() -> None:
    """A version that is the same on both sides explains nothing, so it is not told as the library's."""
    same = facts.driver_library(picked=facts.library_file("/opt/x/libcuda.so.1", "550.107.02", origin="pip"))
    other = facts.driver_library(picked=facts.library_file("/opt/x/libcuda.so.1", "535.54.03", origin="pip"))
    machine = facts.T4_CONTAINER.but(facts.cuda_fails(803))
    assert "library is of another version" in machine.but(same).found(rule).message
    assert "library is 535.54.03" in machine.but(other).found(rule).message
