"""TFD508 cpu-only-build: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Safety, Status
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.rules.tensorflow.tfd508_cpu_only_build import cpu_only_build as rule

GPU = facts.gpu_machine()
CPU = facts.tensorflow(distribution="tensorflow-cpu", cuda_build=False, cuda="", cudnn="")


def test_tensorflow_cpu_beside_a_gpu() -> None:
    found = facts.found(rule, GPU, CPU, facts.platform(), facts.interpreter())
    assert "tensorflow-cpu 2.20.0" in found.message and "without CUDA" in found.message
    fix = found.fixes[0]
    assert fix.removes == ("tensorflow-cpu",) and fix.requirements == ("tensorflow[and-cuda]==2.20.0",)
    assert fix.safety is Safety.ASK and fix.commands[0][3:] == ("uninstall", "-y", "tensorflow-cpu")


def test_where_no_build_has_cuda_the_way_out_is_named() -> None:
    found = facts.found(rule, GPU, facts.tensorflow(cuda_build=False), facts.platform(machine="aarch64"))
    assert found.fixes[0].commands == () and "NVIDIA" in found.fixes[0].title
    windows = facts.found(rule, GPU, facts.tensorflow(cuda_build=False), facts.windows())
    assert "WSL 2" in windows.fixes[0].title


def test_a_rocm_build() -> None:
    amd = facts.tensorflow(distribution="tensorflow-rocm", version="2.14.0.600", cuda_build=False, rocm_build=True)
    assert "ROCm" in facts.found(rule, GPU, amd).message


def test_rests_without_a_gpu() -> None:
    assert facts.silent(rule, CPU, rests={GpuMachine: "no NVIDIA GPU on this machine"})


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.platform())


def test_not_known_is_not_said() -> None:
    assert facts.run(rule, GPU, facts.tensorflow(cuda_build=None)).status is Status.SKIPPED


def test_before_the_extra_the_plain_package() -> None:
    old = facts.tensorflow(distribution="tensorflow-cpu", version="2.10.1", cuda_build=False)
    assert facts.found(rule, GPU, old, facts.platform()).fixes[0].requirements == ("tensorflow==2.10.1",)
