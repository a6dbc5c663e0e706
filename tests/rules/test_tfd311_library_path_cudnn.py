"""TFD311 library-path-cudnn: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken

from tfdoctor.rules.libraries.tfd311_library_path_cudnn import library_path_cudnn as rule

GPU = facts.gpu_machine()
COPY = facts.library_file("/opt/cudnn-9.3/lib/libcudnn.so.9", "9.3.0", origin="other")


def test_only_cudnn_is_out_of_reach() -> None:
    lost = facts.libraries(broken.lost("cudnn", COPY))
    found = facts.found(rule, GPU, facts.tensorflow(), lost)
    assert "libcudnn.so.9" in found.message and "/opt/cudnn-9.3/lib" in found.message
    assert broken.fired(facts.tensorflow(), lost) == {"TFD311": None, "TFD327": "TFD311"}


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.libraries())


def test_with_cuda_out_of_reach_too_it_is_the_toolkit() -> None:
    copy = facts.library_file("/opt/cuda/lib64/libcusparse.so.12", "12.5", origin="other")
    lost = facts.libraries(broken.lost("cudnn", COPY), broken.lost("cusparse", copy))
    assert broken.fired(facts.tensorflow(), lost) == {"TFD310": None, "TFD327": "TFD310"}
