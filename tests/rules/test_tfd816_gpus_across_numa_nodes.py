"""TFD816 gpus-across-numa-nodes: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.distributed.tfd816_gpus_across_numa_nodes import gpus_across_numa_nodes as rule

TWO_NODES = facts.gpus(facts.gpu(0, numa_node=0), facts.gpu(1, numa_node=1))
SYS = facts.topology({(0, 1): "SYS"}, {(0, 1): "OK"})


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), TWO_NODES, SYS)
    assert "GPU 0 (NUMA node 0) and GPU 1 (NUMA node 1)" in diagnosis.message
    assert rule.severity is Severity.INFO


def test_nvlink_across_nodes() -> None:
    assert facts.silent(rule, facts.gpu_machine(), TWO_NODES, facts.topology({(0, 1): "NV18"}))
    assert facts.H100_SERVER.silent(rule)


def test_node_not_told() -> None:
    gpus = facts.gpus(facts.gpu(0, numa_node=None), facts.gpu(1, numa_node=1))
    assert facts.silent(rule, facts.gpu_machine(), gpus, SYS)


def test_sys_on_one_node() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus(facts.gpu(0), facts.gpu(1)), SYS)


def test_one_is_visible() -> None:
    assert facts.silent(rule, facts.gpu_machine(), TWO_NODES, SYS, facts.environment(CUDA_VISIBLE_DEVICES="1"))
