"""TFD239 driver-library-hidden-by-stub: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd239_driver_library_hidden_by_stub import driver_library_hidden_by_stub as rule

STUBS = "/usr/local/cuda-12.4/lib64/stubs"
STUB = facts.library_file(f"{STUBS}/libcuda.so.1", "", origin="stub")
OWN = facts.library_file("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "550.107.02", origin="system")


def test_sick() -> None:
    library = facts.driver_library(picked=STUB, how="LD_LIBRARY_PATH", others=(OWN,))
    env = facts.environment(LD_LIBRARY_PATH=f"{STUBS}/:/opt/lib")
    diagnosis = facts.WORKSTATION.but(library, env).found(rule)
    assert STUB.path in diagnosis.message and OWN.path in diagnosis.message
    assert diagnosis.fixes[0].environment == (("LD_LIBRARY_PATH", "/opt/lib"),)


def test_through_the_cache() -> None:
    library = facts.driver_library(picked=STUB, how="ld.so.cache", others=(OWN,))
    fix = facts.WORKSTATION.but(library, facts.environment()).found(rule).fixes[0]
    assert fix.commands == (("ldconfig",),) and STUBS in fix.note


def test_a_stub_alone_hides_nothing() -> None:
    """Then the driver's library is missing, and that is another fault."""
    other_stub = facts.library_file("/opt/cuda/lib64/stubs/libcuda.so.1", "", origin="stub")
    assert facts.WORKSTATION.but(facts.driver_library(picked=STUB, others=(other_stub,))).silent(rule)


def test_a_stub_that_comes_second_is_harmless() -> None:
    assert facts.WORKSTATION.but(facts.driver_library(picked=OWN, others=(STUB,))).silent(rule)


def test_healthy() -> None:
    assert facts.WORKSTATION.silent(rule)


def test_cuda_itself_says_that_it_is_a_stub() -> None:
    odd = facts.driver_library(picked=facts.library_file("/opt/sdk/libcuda.so.1", "", origin="other"))
    diagnosis = facts.WORKSTATION.but(odd, facts.cuda_fails(34)).found(rule)
    assert "/opt/sdk/libcuda.so.1" in diagnosis.message
    assert "CUDA_ERROR_STUB_LIBRARY (34)" in diagnosis.evidence[-1].says


def test_cuda_that_starts_is_no_stub() -> None:
    library = facts.driver_library(picked=STUB, how="LD_LIBRARY_PATH", others=(OWN,))
    assert facts.WORKSTATION.but(library, facts.cuda_driver()).silent(rule)


def test_a_preloaded_stub_is_named_and_not_the_library_that_it_hides() -> None:
    stub = "/opt/sdk/libcuda.so.1"
    env = facts.environment(LD_PRELOAD=f"/opt/other.so:{stub}")
    diagnosis = facts.WORKSTATION.but(facts.driver_library(picked=OWN), facts.cuda_fails(34), env).found(rule)
    assert f"stub {stub}," in diagnosis.message and f"own is {OWN.path}." in diagnosis.message
    assert diagnosis.fixes[0].environment == (("LD_PRELOAD", "/opt/other.so"),)
