"""TFD506 windows-native-gpu-dropped: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Status
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.rules.tensorflow.tfd506_windows_native_gpu_dropped import windows_native_gpu_dropped as rule

GPU = facts.gpu_machine()
CPU_BUILD = facts.tensorflow(distribution="tensorflow-intel", version="2.15.0", cuda_build=False)


def test_newer_than_2_10() -> None:
    found = facts.found(rule, GPU, facts.windows(), CPU_BUILD)
    assert "2.15.0" in found.message and "2.10" in found.message
    assert found.fixes[0].commands == (("wsl", "--install"),)


def test_2_10_has_it() -> None:
    assert facts.silent(rule, GPU, facts.windows(), facts.tensorflow_release("2.10.1"))


def test_2_11_has_not() -> None:
    assert facts.found(rule, GPU, facts.windows(), facts.tensorflow_release("2.11.0", cuda_build=False))


def test_rests_on_linux_and_without_a_gpu() -> None:
    assert facts.silent(rule, GPU, facts.platform(), CPU_BUILD)
    assert facts.silent(rule, facts.windows(), CPU_BUILD, rests={GpuMachine: "no NVIDIA GPU on this machine"})


def test_directml_is_another_way() -> None:
    plugin = facts.distributions({"tensorflow-directml-plugin": "0.4.0.dev230202"})
    assert facts.silent(rule, GPU, facts.windows(), CPU_BUILD, plugin)


def test_the_package_alone_tells_the_system() -> None:
    assert facts.found(rule, GPU, CPU_BUILD)
    shell = facts.tensorflow(version="2.15.0", cuda_build=False)
    assert facts.run(rule, GPU, shell).status is Status.SKIPPED
    assert facts.found(rule, GPU, shell, facts.distributions({"tensorflow": "2.15.0", "tensorflow-intel": "2.15.0"}))
    assert facts.run(rule, GPU, shell, facts.distributions()).status is Status.SKIPPED
