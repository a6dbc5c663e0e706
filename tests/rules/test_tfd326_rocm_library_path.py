"""TFD326 rocm-library-path: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import rocm_faults

from tfdoctor.rules.libraries.tfd326_rocm_library_path import rocm_library_path as rule


def test_out_of_reach() -> None:
    found = facts.found(rule, facts.rocm(libraries_found=False), rocm_faults.tensorflow())
    assert "6.3.0" in found.message and "tensorflow-rocm 2.14.0.600" in found.message
    assert found.fixes[0].environment == (("LD_LIBRARY_PATH", "/opt/rocm/lib"),)


def test_healthy() -> None:
    assert facts.silent(rule, facts.rocm(), rocm_faults.tensorflow())


def test_a_cuda_build_does_not_want_them() -> None:
    assert facts.silent(rule, facts.rocm(libraries_found=False), facts.tensorflow())


def test_rests_without_an_amd_gpu() -> None:
    assert facts.silent(rule, rocm_faults.tensorflow(), rests=rocm_faults.NO_AMD)
