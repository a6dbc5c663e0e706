"""TFD221 gpu-contained-by-scheduler: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.pci import Pci
from tfdoctor.rules.driver.tfd221_gpu_contained_by_scheduler import gpu_contained_by_scheduler as rule

NO_GPU = facts.job(scheduler="slurm", gpus="")
EMPTY = Pci((), "x")


def in_job(*changed: object) -> facts.Machine:
    return facts.WORKSTATION.but(NO_GPU, DeviceNodes((), "/dev"), *changed, without=(Gpus,))


def test_slurm() -> None:
    diagnosis = in_job().found(rule)
    assert "Slurm" in diagnosis.message
    assert "--gres=gpu:1" in diagnosis.fixes[0].commands[0]


def test_kubernetes() -> None:
    assert "Kubernetes" in in_job(facts.job(scheduler="kubernetes", gpus="")).found(rule).message


def test_nodes_shut_by_the_cgroup() -> None:
    nodes = facts.device_nodes(facts.device_node("/dev/nvidia0", error="Operation not permitted"))
    assert facts.WORKSTATION.but(NO_GPU, nodes, facts.gpus()).found(rule)


def test_gpus_that_can_be_used() -> None:
    assert facts.WORKSTATION.but(NO_GPU).silent(rule)


def test_not_stated() -> None:
    assert in_job(facts.job(scheduler="slurm", gpus=None)).silent(rule)
    assert in_job(facts.job(scheduler="slurm", gpus="0")).silent(rule)
    assert in_job(facts.job()).silent(rule)


def test_a_driver_that_lists_no_gpu_is_enough() -> None:
    nodes = facts.device_nodes()
    assert facts.WORKSTATION.but(NO_GPU, nodes, Gpus((), "NVML")).found(rule)
    assert facts.WORKSTATION.but(NO_GPU, nodes, without=(Gpus,)).silent(rule)
