"""TFD307 cuda-major-mixed-libs: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken

from tfdoctor.probes.libraries import Library
from tfdoctor.rules.libraries.tfd307_cuda_major_mixed_libs import cuda_major_mixed_libs as rule

GPU = facts.gpu_machine()


def _solver(*lacks: str, copies: tuple[broken.Libraries, ...] = ()) -> Library:
    path = "/usr/local/cuda-11.8/lib64/libcusolver.so.11"
    return facts.library(
        "cusolver",
        picked=facts.library_file(path, "11.4", origin="toolkit", missing=lacks),
        how="LD_LIBRARY_PATH",
        copies=copies,
    )


def test_cusolver_of_cuda_11_for_a_build_for_12() -> None:
    found = facts.found(rule, GPU, facts.tensorflow(), facts.libraries(_solver("libcublas.so.11")))
    assert "/usr/local/cuda-11.8/lib64/libcusolver.so.11" in found.message and "libcublas.so.11" in found.message
    assert "12.5.1" in found.message


def test_is_the_root_of_the_missing_library() -> None:
    lost = facts.libraries(_solver("libcublas.so.11"))
    assert broken.fired(facts.tensorflow(), lost) == {"TFD307": None, "TFD327": "TFD307"}


def test_a_dependency_of_the_same_major_is_another_fault() -> None:
    lost = facts.libraries(_solver("libnvJitLink.so.12"))
    assert facts.silent(rule, GPU, facts.tensorflow(), lost)
    assert broken.fired(facts.tensorflow(), lost) == {"TFD327": None}


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.libraries())
