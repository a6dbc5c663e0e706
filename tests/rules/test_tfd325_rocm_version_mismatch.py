"""TFD325 rocm-version-mismatch: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import rocm_faults

from tfdoctor.model import Severity
from tfdoctor.rules.libraries.tfd325_rocm_version_mismatch import rocm_version_mismatch as rule


def test_another_minor_release() -> None:
    found = facts.found(rule, facts.rocm(version="6.3.0"), rocm_faults.tensorflow())
    assert "6.0" in found.message and "6.3.0" in found.message and found.severity is None


def test_another_major_release() -> None:
    assert facts.found(rule, facts.rocm(version="7.0.2"), rocm_faults.tensorflow()).severity is Severity.ERROR


def test_healthy() -> None:
    assert facts.silent(rule, facts.rocm(version="6.0.2"), rocm_faults.tensorflow())


def test_unknown_says_nothing() -> None:
    assert facts.silent(rule, facts.rocm(version=""), rocm_faults.tensorflow())
    assert facts.silent(rule, facts.rocm(), rocm_faults.tensorflow("2.9.4"))
    assert facts.silent(rule, facts.rocm(), facts.tensorflow())


def test_rests_without_an_amd_gpu() -> None:
    assert facts.silent(rule, rocm_faults.tensorflow(), rests=rocm_faults.NO_AMD)
