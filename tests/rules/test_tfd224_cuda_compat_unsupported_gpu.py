"""TFD224 cuda-compat-unsupported-gpu: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd224_cuda_compat_unsupported_gpu import cuda_compat_unsupported_gpu as rule

COMPAT = facts.driver_library(
    picked=facts.library_file("/usr/local/cuda/compat/libcuda.so.1", "560.28.03", origin="compat")
)


def test_sick() -> None:
    env = facts.environment(LD_LIBRARY_PATH="/usr/local/cuda/compat:/opt/lib")
    diagnosis = facts.WORKSTATION.but(COMPAT, env).found(rule)
    assert "/usr/local/cuda/compat/libcuda.so.1" in diagnosis.message
    assert "560.28.03" in diagnosis.message and "550.107.02" in diagnosis.message and "RTX 3090" in diagnosis.message
    assert diagnosis.fixes[0].environment == (("LD_LIBRARY_PATH", "/opt/lib"),)


def test_data_centre_gpu_may() -> None:
    assert facts.T4_CONTAINER.but(COMPAT).silent(rule)


def test_the_same_version_is_no_forward_compatibility() -> None:
    same = facts.driver_library(
        picked=facts.library_file("/usr/local/cuda/compat/libcuda.so.1", "550.107.02", origin="compat")
    )
    assert facts.WORKSTATION.but(same).silent(rule)


def test_healthy() -> None:
    assert facts.WORKSTATION.silent(rule)


def test_cuda_itself_refuses() -> None:
    found = facts.T4_CONTAINER.but(COMPAT, facts.cuda_fails(804)).found(rule)
    assert "does not support forward compatibility" in found.message and "560.28.03" in found.message
    assert "(804)" in found.evidence[0].says and found.gpus == ()
    assert facts.T4_CONTAINER.but(facts.cuda_fails(804)).found(rule)


def test_cuda_that_starts_does_not_refuse() -> None:
    assert facts.WORKSTATION.but(COMPAT, facts.cuda_driver()).silent(rule)
