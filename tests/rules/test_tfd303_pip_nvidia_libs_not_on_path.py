"""TFD303 pip-nvidia-libs-not-on-path: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken

from tfdoctor.rules.libraries.tfd303_pip_nvidia_libs_not_on_path import pip_nvidia_libs_not_on_path as rule

GPU = facts.gpu_machine()


def test_wheels_in_another_site_packages() -> None:
    place = "/home/me/.local/lib/python3.11/site-packages/nvidia/cudnn/lib"
    copy = facts.library_file(f"{place}/libcudnn.so.9", "9.5.0")
    found = facts.found(rule, GPU, facts.tensorflow(), facts.libraries(broken.lost("cudnn", copy)), facts.environment())
    assert "libcudnn.so.9" in found.message and place in found.message and "2.20.0" in found.message
    assert found.fixes[0].environment == (("LD_LIBRARY_PATH", place),)


def test_a_release_before_the_extra() -> None:
    old = facts.tensorflow_release("2.13.1")
    place = f"{facts.SITE}/nvidia/cuda_runtime/lib"
    lost = broken.all_elsewhere(place, "pip", broken.CUDA11)
    found = facts.found(rule, GPU, old, lost)
    assert "libcudart.so.11.0" in found.message and len(found.fixes) == 1
    assert broken.fired(old, lost) == {"TFD303": None, "TFD327": "TFD303"}


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.libraries())


def test_no_copy_is_another_fault() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), broken.nothing())
