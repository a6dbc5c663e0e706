"""TFD312 docker-image-lacks-cudnn9: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken

from tfdoctor.rules.libraries.tfd312_docker_image_lacks_cudnn9 import docker_image_lacks_cudnn9 as rule

GPU = facts.gpu_machine()
TF = facts.tensorflow_release("2.18.0")
OLD = facts.library_file("/usr/lib/x86_64-linux-gnu/libcudnn.so.8", "8.9.6.50", origin="system")
IMAGE = facts.container(kind="docker", vendor="tensorflow", image_tensorflow="2.18.0")
LOST = facts.libraries(broken.lost("cudnn", OLD))


def test_the_official_image_with_cudnn_8() -> None:
    found = facts.found(rule, GPU, TF, LOST, IMAGE)
    assert "libcudnn.so.8" in found.message and "libcudnn.so.9" in found.message and "2.18.0" in found.message
    assert found.fixes[0].requirements == ("tensorflow[and-cuda]==2.18.0",)
    assert broken.fired(TF, LOST, IMAGE) == {"TFD312": None, "TFD327": "TFD312"}


def test_elsewhere_it_is_a_missing_library() -> None:
    assert broken.fired(TF, LOST, facts.container()) == {"TFD327": None}


def test_healthy_image() -> None:
    assert facts.silent(rule, GPU, TF, facts.libraries(), IMAGE)
