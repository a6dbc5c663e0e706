"""TFD802 shm-too-small: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import smoke_results

from tfdoctor.model import Severity
from tfdoctor.rules.distributed.tfd802_shm_too_small import shm_too_small as rule

SMALL = facts.shm(total=64 * facts.MIB, free=64 * facts.MIB)
TWO = facts.gpus(facts.gpu(0), facts.gpu(1))


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), SMALL, TWO, facts.container(kind="docker"))
    assert "64 MiB" in diagnosis.message and "2 GPUs" in diagnosis.message
    assert "--shm-size=1g" in diagnosis.fixes[0].commands[0]


def test_direct_access_needs_less() -> None:
    topology = facts.topology({(0, 1): "NV4"}, {(0, 1): "OK"})
    assert facts.found(rule, facts.gpu_machine(), SMALL, TWO, topology).severity is Severity.INFO


def test_boundary() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.shm(total=64 * facts.MIB + 1), TWO)


def test_one_gpu() -> None:
    assert facts.silent(rule, facts.gpu_machine(), SMALL, facts.gpus())
    assert facts.silent(rule, facts.gpu_machine(), SMALL, TWO, facts.environment(CUDA_VISIBLE_DEVICES="1"))


def test_an_experiment_makes_it_certain_whatever_the_size() -> None:
    large = facts.shm(total=8 * facts.GIB, free=8 * facts.GIB)
    proof = smoke_results.helped("NCCL_SHM_DISABLE=1", "shm-too-small")
    said = facts.found(rule, facts.gpu_machine(), large, TWO, proof)
    assert "works only without it" in said.message and said.severity is Severity.ERROR
    assert facts.silent(rule, facts.gpu_machine(), large, TWO, smoke_results.helped("NCCL_P2P_DISABLE=1", "x"))
