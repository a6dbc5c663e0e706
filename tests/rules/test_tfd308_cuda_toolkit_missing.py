"""TFD308 cuda-toolkit-missing: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken

from tfdoctor.rules.libraries.tfd308_cuda_toolkit_missing import cuda_toolkit_missing as rule

GPU = facts.gpu_machine()
DLLS = {
    "cudart": "cudart64_110.dll",
    "cublas": "cublas64_11.dll",
    "cublasLt": "cublasLt64_11.dll",
    "cufft": "cufft64_10.dll",
    "cusolver": "cusolver64_11.dll",
    "cusparse": "cusparse64_11.dll",
    "cudnn": "cudnn64_8.dll",
}


def test_windows_without_cuda() -> None:
    tf = facts.tensorflow_release("2.10.1")
    found = facts.found(rule, GPU, tf, broken.nothing(DLLS))
    assert "2.10.1" in found.message and "11.2" in found.message and "8.1" in found.message
    assert "cudart64_110.dll" in found.message
    assert broken.fired(tf, broken.nothing(DLLS)) == {"TFD308": None, "TFD327": "TFD308"}


def test_linux_before_the_extra() -> None:
    found = facts.found(rule, GPU, facts.tensorflow_release("2.9.3"), broken.nothing(broken.CUDA11))
    assert "libcudart.so.11.0" in found.message


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.libraries())


def test_2_14_has_the_extra() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow_release("2.14.1"), broken.nothing(broken.CUDA11))
