"""TFD305 cuda-major-mismatch: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken
import pytest

from tfdoctor.model import Severity
from tfdoctor.probes.toolkits import Toolkit
from tfdoctor.rules.libraries._which import cuda_major, soname_major
from tfdoctor.rules.libraries.tfd305_cuda_major_mismatch import cuda_major_mismatch as rule

GPU = facts.gpu_machine()
OLD = facts.tensorflow_release("2.13.1")
CUDA12 = broken.all_elsewhere("/usr/local/cuda-12.4/lib64", "toolkit", broken.CUDA11, broken.CUDA12)


def test_cuda_12_for_a_build_for_11() -> None:
    found = facts.found(rule, GPU, OLD, CUDA12)
    assert "11.8" in found.message and "libcudart.so.11.0" in found.message and "CUDA 12" in found.message
    assert found.fixes[0].requirements == ()
    assert broken.fired(OLD, CUDA12) == {"TFD305": None, "TFD327": "TFD305"}


def test_cuda_11_for_a_build_for_12_is_one_cause_although_some_sonames_agree() -> None:
    cuda11 = broken.all_elsewhere("/usr/local/cuda-11.8/lib64", "toolkit", have=broken.CUDA11)
    found = facts.found(rule, GPU, facts.tensorflow(), cuda11)
    assert found.fixes[0].requirements == ("tensorflow[and-cuda]==2.20.0",)
    assert broken.fired(facts.tensorflow(), cuda11) == {"TFD305": None, "TFD327": "TFD305"}


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.libraries())


def test_unsure_from_toolkits_and_packages_alone() -> None:
    toolkit = facts.toolkits(toolkits=(Toolkit("/usr/local/cuda-12.4", "12.4", "version.json", True),))
    found = facts.found(rule, GPU, OLD, toolkit, facts.distributions({"tensorflow": "2.13.1"}))
    assert found.severity is Severity.WARNING and "11.8" in found.message and "12" in found.message
    both = facts.distributions({"nvidia-cuda-runtime-cu11": "11.8.89"})
    assert facts.silent(rule, GPU, OLD, toolkit, both)


@pytest.mark.parametrize(
    ("soname", "major"),
    [
        ("libcudart.so.12", 12),
        ("libcudart.so.11.0", 11),
        ("libcudart.so.10.1", 10),
        ("cudart64_110.dll", 11),
        ("cudart64_101.dll", 10),
        ("cudart64_12.dll", 12),
        ("libcudart.so", None),
    ],
)
def test_the_major_of_a_file_name(soname: str, major: int) -> None:
    assert soname_major(soname) == major


@pytest.mark.parametrize(("version", "major"), [("12.5.1", 12), ("64_112", 11), ("11.8", 11), ("", None)])
def test_the_major_of_a_build(version: str, major: int) -> None:
    assert cuda_major(version) == major
