"""TFD315 cudnn-dropped-this-gpu: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.model import Severity
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules.libraries.tfd315_cudnn_dropped_this_gpu import cudnn_dropped_this_gpu as rule

GPU = facts.gpu_machine()


def _card(capability: str, name: str = "Tesla V100-SXM2-16GB") -> Gpus:
    return facts.gpus(facts.gpu(name=name, compute_capability=capability))


def _cudnn(version: str) -> Libraries:
    path = f"{facts.SITE}/nvidia/cudnn/lib/libcudnn.so.9"
    return facts.libraries(facts.library("cudnn", picked=facts.library_file(path, version)))


def test_a_v100_with_the_newest_cudnn() -> None:
    found = facts.found(rule, GPU, facts.tensorflow(), _card("7.0"), _cudnn("9.28.0.42"))
    assert (
        "9.28.0.42" in found.message and "7.5" in found.message and "7.0" in found.message and "V100" in found.message
    )
    assert found.severity is None and found.fixes[0].requirements == ("nvidia-cudnn-cu12<9.11",)


def test_from_the_packages_alone_it_is_an_error_too() -> None:
    frozen = facts.distributions({"tensorflow": "2.21.0", "nvidia-cudnn-cu12": "9.28.0.42"}, source="pip freeze")
    found = facts.found(rule, GPU, facts.tensorflow_release("2.21.0"), _card("6.1", "GeForce GTX 1080"), frozen)
    assert found.severity is None and "6.1" in found.message


@pytest.mark.parametrize(("capability", "version"), [("7.0", "9.10.2.21"), ("7.5", "9.28.0.42"), ("6.1", "9.3.0.75")])
def test_healthy(capability: str, version: str) -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), _card(capability), _cudnn(version))


def test_the_boundary() -> None:
    assert facts.found(rule, GPU, facts.tensorflow(), _card("7.2"), _cudnn("9.11.0.98"))


def test_a_gpu_that_tensorflow_dropped_itself_is_another_fault() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), _card("5.2"), _cudnn("9.28.0.42"))


def test_one_of_two_gpus() -> None:
    two = facts.gpus(facts.gpu(0), facts.gpu(1, name="TITAN V", compute_capability="7.0"))
    found = facts.found(rule, GPU, facts.tensorflow(), two, _cudnn("9.28.0.42"))
    assert found.gpus == (1,) and "TITAN V" in found.message


def test_a_second_hand_row_only_warns() -> None:
    build13 = facts.tensorflow(version="2.30.0", cuda="13.0", compute_capabilities=("sm_70", "compute_90"))
    assert facts.found(rule, GPU, build13, _card("7.0"), _cudnn("9.27.0")).severity is Severity.WARNING


def test_unknown_says_nothing() -> None:
    assert facts.silent(
        rule, GPU, facts.tensorflow(), facts.gpus(facts.gpu(compute_capability=None)), _cudnn("9.28.0.42")
    )
    assert facts.silent(rule, GPU, facts.tensorflow(), _card("7.0"), _cudnn(""))


def test_a_list_of_packages_without_the_system() -> None:
    frozen = facts.distributions({"tensorflow": "2.21.0", "nvidia-cudnn-cu12": "9.28.0.42"}, source="pip freeze")
    bare = facts.tensorflow(version="2.21.0", cuda_build=None, cuda="", cudnn="", compute_capabilities=())
    assert facts.found(rule, GPU, bare, _card("7.0"), frozen).severity is None
