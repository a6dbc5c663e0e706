"""TFD522 rocm-gpu-arch-unsupported: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import rocm_faults

from tfdoctor.rules.tensorflow.tfd522_rocm_gpu_arch_unsupported import rocm_gpu_arch_unsupported as rule

BUILT = rocm_faults.tensorflow(compute_capabilities=("gfx900", "gfx942"))
HAWAII = facts.rocm(gpus=(("AMD Hawaii", "gfx701"),))


def test_a_gpu_that_the_build_leaves_out() -> None:
    found = facts.found(rule, HAWAII, BUILT)
    assert "gfx701" in found.message and "gfx900" in found.message


def test_healthy() -> None:
    assert facts.silent(rule, facts.rocm(), BUILT)


def test_unknown_says_nothing() -> None:
    assert facts.silent(rule, facts.rocm(gpus=(("AMD GPU", ""),)), BUILT)
    assert facts.silent(rule, HAWAII, rocm_faults.tensorflow())


def test_rests_without_an_amd_gpu() -> None:
    assert facts.silent(rule, BUILT, rests=rocm_faults.NO_AMD)
