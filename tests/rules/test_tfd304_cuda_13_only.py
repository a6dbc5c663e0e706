"""TFD304 cuda-13-only: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken

from tfdoctor.model import Severity
from tfdoctor.probes.toolkits import Toolkit
from tfdoctor.rules.libraries.tfd304_cuda_13_only import cuda_13_only as rule

GPU = facts.gpu_machine()
CUDA13 = broken.all_elsewhere("/usr/local/cuda-13.0/lib64", "toolkit", have=broken.CUDA13)
TOOLKIT13 = facts.toolkits(toolkits=(Toolkit("/usr/local/cuda-13.0", "13.0.1", "version.json", True),))


def test_only_cuda_13() -> None:
    found = facts.found(rule, GPU, facts.tensorflow(), CUDA13)
    assert "12.5.1" in found.message and "libcudart.so.12" in found.message and "CUDA 13" in found.message
    assert found.fixes[0].requirements == ("tensorflow[and-cuda]==2.20.0",)
    assert broken.fired(facts.tensorflow(), CUDA13) == {"TFD304": None, "TFD327": "TFD304"}


def test_healthy_beside_cuda_13() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.libraries(), TOOLKIT13)


def test_cuda_11_and_13_is_not_only_13() -> None:
    copies = (
        facts.library_file("/usr/local/cuda-13.0/lib64/libcudart.so.13", "13.0", origin="toolkit"),
        facts.library_file("/usr/local/cuda-11.8/lib64/libcudart.so.11.0", "11.8", origin="toolkit"),
    )
    lost = broken.libraries(broken.lost("cudart", *copies))
    assert broken.fired(facts.tensorflow(), lost) == {"TFD305": None, "TFD327": "TFD305"}


def test_unsure_from_toolkits_and_packages_alone() -> None:
    bare = facts.distributions({name: None for name in facts.PACKAGES if name.startswith("nvidia-")})
    found = facts.found(rule, GPU, facts.tensorflow(), TOOLKIT13, bare)
    assert found.severity is Severity.WARNING and "13" in found.message
    assert facts.silent(rule, GPU, facts.tensorflow(), TOOLKIT13, facts.distributions())
    assert facts.silent(rule, GPU, facts.tensorflow(), TOOLKIT13)


def test_a_toolkit_without_libraries_still_tells_the_major() -> None:
    assert broken.fired(facts.tensorflow(), broken.nothing(), TOOLKIT13) == {"TFD304": None, "TFD327": "TFD304"}


def test_one_missing_wheel_beside_a_cuda_13_toolkit_is_not_cuda_13_only() -> None:
    """cuBLAS of CUDA 12 is here, so CUDA 12 is; what is missing is the runtime's wheel."""
    file = facts.library_file("/usr/local/cuda-13.0/lib64/libcudart.so.13", "13.0", origin="toolkit")
    one = facts.libraries(facts.library("cudart", picked=None, copies=(file,)))
    assert facts.silent(rule, GPU, one, facts.tensorflow(), facts.toolkits())
