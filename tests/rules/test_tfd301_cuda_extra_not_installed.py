"""TFD301 cuda-extra-not-installed: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken

from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.rules.libraries.tfd301_cuda_extra_not_installed import cuda_extra_not_installed as rule

GPU = facts.gpu_machine()


def test_no_library_anywhere() -> None:
    found = facts.found(rule, GPU, facts.tensorflow(), broken.nothing(), facts.interpreter())
    assert "2.20.0" in found.message and "12.5.1" in found.message and "libcudart.so.12" in found.message
    assert found.fixes[0].requirements == ("tensorflow[and-cuda]==2.20.0",)
    assert found.fixes[0].commands[0][:3] == ("/home/me/venv/bin/python", "-m", "pip")


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.libraries())


def test_rests_without_a_gpu() -> None:
    given = (facts.tensorflow(), broken.nothing())
    assert facts.silent(rule, *given, rests={GpuMachine: "no NVIDIA GPU on this machine"})


def test_a_release_whose_extra_is_not_found_is_not_recommended() -> None:
    given = (GPU, facts.tensorflow_release("2.21.0"), broken.nothing())
    assert facts.found(rule, *given).fixes[0].requirements == ("tensorflow[and-cuda]==2.20.0",)
    given = (GPU, facts.tensorflow_release("2.15.0"), broken.nothing())
    assert facts.found(rule, *given).fixes[0].requirements == ("tensorflow[and-cuda]==2.15.1",)


def test_an_old_gpu_gets_an_old_cudnn_with_it() -> None:
    volta = facts.gpus(facts.gpu(name="Tesla V100", compute_capability="7.0"))
    found = facts.found(rule, GPU, facts.tensorflow(), broken.nothing(), volta)
    assert found.fixes[0].requirements == ("tensorflow[and-cuda]==2.20.0", "nvidia-cudnn-cu12<9.11")
    pinned = facts.found(rule, GPU, facts.tensorflow_release("2.19.1"), broken.nothing(), volta)
    assert pinned.fixes[0].requirements == ("tensorflow[and-cuda]==2.19.1",)


def test_alone_is_the_root_cause() -> None:
    assert broken.fired(facts.tensorflow(), broken.nothing()) == {"TFD301": None, "TFD327": "TFD301"}


def test_before_2_14_there_is_no_extra() -> None:
    old = facts.tensorflow_release("2.13.1")
    assert broken.fired(old, broken.nothing(broken.CUDA11)) == {"TFD308": None, "TFD327": "TFD308"}


def test_a_conda_build_takes_cuda_from_conda() -> None:
    conda = facts.distributions({}, facts.distribution("tensorflow", "2.20.0", installer="conda"))
    assert broken.fired(facts.tensorflow(), broken.nothing(), conda) == {"TFD327": None}
