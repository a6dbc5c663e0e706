"""TFD306 cuda-minor-mismatch-soname: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken

from tfdoctor.probes.libraries import Library
from tfdoctor.rules.libraries.tfd306_cuda_minor_mismatch_soname import cuda_minor_mismatch_soname as rule

GPU = facts.gpu_machine()
TF24 = facts.tensorflow_release("2.4.1")
LIB64 = "/usr/local/cuda-11.2/lib64"


def _with_cusolver(place: str) -> broken.Libraries:
    runtime = facts.library_file(f"{LIB64}/libcudart.so.11.0", "11.2", origin="toolkit")
    solver = facts.library_file(f"{place}/libcusolver.so.11", "11.1", origin="toolkit")
    return broken.libraries(
        Library("libcudart.so.11.0", "cudart", True, runtime, "LD_LIBRARY_PATH", (), "libtensorflow_framework.so.2"),
        broken.lost("cusolver", solver, soname="libcusolver.so.10"),
    )


def test_cusolver_of_11_2_for_a_build_with_11_0() -> None:
    found = facts.found(rule, GPU, TF24, _with_cusolver(LIB64))
    assert "libcusolver.so.10" in found.message and "libcusolver.so.11" in found.message and "11.0" in found.message
    assert broken.fired(TF24, _with_cusolver(LIB64)) == {"TFD306": None, "TFD327": "TFD306"}


def test_a_cusolver_of_another_toolkit_is_not_it() -> None:
    assert facts.silent(rule, GPU, TF24, _with_cusolver("/usr/local/cuda-12.4/lib64"))


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.libraries())
