"""TFD327 cuda-library-missing: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken

from tfdoctor.rules.libraries.tfd327_cuda_library_missing import cuda_library_missing as rule

GPU = facts.gpu_machine()


def test_one_library_is_nowhere() -> None:
    lost = facts.libraries(broken.lost("cufft"))
    found = facts.found(rule, GPU, facts.tensorflow(), lost)
    assert "libcufft.so.11" in found.message and "2.20.0" in found.message
    assert found.fixes[0].requirements == ("tensorflow[and-cuda]==2.20.0",)
    assert broken.fired(facts.tensorflow(), lost) == {"TFD327": None}


def test_one_that_is_found_and_cannot_be_loaded() -> None:
    picked = facts.library_file(
        "/opt/cuda/lib64/libcusolver.so.11", "12.5", origin="other", missing=("libnvJitLink.so.12",)
    )
    found = facts.found(rule, GPU, facts.tensorflow(), facts.libraries(facts.library("cusolver", picked=picked)))
    assert "libcusolver.so.11" in found.message and "libnvJitLink.so.12" in found.evidence[0].says


def test_cudnn_of_another_major_is_named() -> None:
    old = facts.library_file("/usr/lib/x86_64-linux-gnu/libcudnn.so.8", "8.9.6", origin="system")
    found = facts.found(rule, GPU, facts.tensorflow(), facts.libraries(broken.lost("cudnn", old)))
    assert "libcudnn.so.8" in found.evidence[0].says


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.libraries())


def test_a_library_of_a_feature_alone_is_not_missed() -> None:
    feature = facts.library("cupti", picked=None)
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.libraries(feature))


def test_a_file_that_is_cut_short() -> None:
    picked = facts.library_file("/opt/cuda/lib64/libcufft.so.11", "11.2", origin="other", problem="file too short")
    found = facts.found(rule, GPU, facts.tensorflow(), facts.libraries(facts.library("cufft", picked=picked)))
    assert "libcufft.so.11" in found.message and "file too short" in found.evidence[0].says
