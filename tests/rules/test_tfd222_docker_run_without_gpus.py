"""TFD222 docker-run-without-gpus: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.rules.driver.tfd222_docker_run_without_gpus import docker_run_without_gpus as rule


def run(*changed: object) -> facts.Machine:
    return facts.T4_CONTAINER.but(DeviceNodes((), "/dev"), *changed)


@pytest.mark.parametrize(
    ("kind", "word"), [("docker", "--gpus"), ("podman", "--device"), ("singularity", "--nv"), ("lxc", "gpu")]
)
def test_sick(kind: str, word: str) -> None:
    diagnosis = run(facts.container(kind=kind)).found(rule)
    assert kind in diagnosis.message and "/dev/nvidia0" in diagnosis.message
    assert word in diagnosis.fixes[0].commands[0]


def test_kubernetes_asks_in_the_pod() -> None:
    assert "nvidia.com/gpu" in run(facts.container(kind="kubernetes")).found(rule).fixes[0].note


def test_host_without_a_gpu() -> None:
    assert run().but(rests={GpuMachine: "no NVIDIA GPU on this machine"}).silent(rule)


def test_host_without_its_driver_is_another_fault() -> None:
    assert run(facts.kernel_driver(loaded_version="", modules=frozenset())).silent(rule)


def test_wsl_container_without_dxg() -> None:
    machine = facts.WSL_LAPTOP.but(facts.container(kind="docker"), DeviceNodes((), "/dev"), without=(GpuMachine,))
    assert "docker" in machine.found(rule).message


def test_not_a_container_and_not_seen() -> None:
    assert run(facts.container()).silent(rule)
    assert facts.T4_CONTAINER.but(without=(DeviceNodes,)).silent(rule)
    assert facts.T4_CONTAINER.silent(rule)


def test_folds_under_the_variable() -> None:
    from tfdoctor.rules.driver.tfd220_nvidia_visible_devices_void import nvidia_visible_devices_void

    machine = run(facts.environment(NVIDIA_VISIBLE_DEVICES="void"))
    assert machine.codes(rule, nvidia_visible_devices_void) == {"TFD220": None, "TFD222": "TFD220"}
