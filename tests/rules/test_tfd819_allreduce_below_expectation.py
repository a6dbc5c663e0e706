"""TFD819 allreduce-below-expectation: busbw against NVLink or PCIe, with the way that NCCL took."""

from __future__ import annotations

from dataclasses import replace

import facts
import smoke_results as s

from tfdoctor.rules.distributed.tfd819_allreduce_below_expectation import allreduce_below_expectation as rule
from tfdoctor.smoke.results import SmokeResult

PAIR = facts.gpus(facts.gpu(0, processes=()), facts.gpu(1, processes=()))
PCIE = facts.topology({(0, 1): "PHB"}, {(0, 1): "OK"})
BRIDGED = facts.topology({(0, 1): "NV4"}, {(0, 1): "OK"})
SIZE = 2**28


def took(busbw: float, **changes: object) -> SmokeResult:
    """An AllReduce over two cards at `busbw` GB/s: with two ranks busbw is algbw."""
    figures = [
        {"way": "default", "bytes": SIZE, "seconds": SIZE / busbw / 1e9},
        {"way": "default", "bytes": 1024, "seconds": 1.0},
    ]
    return replace(s.measured("allreduce", 2, replicas=2, allreduce=figures), **changes)


def test_pcie_and_nvlink_have_limits_of_their_own() -> None:
    slow = s.smoke(s.listed(2), took(1.0))
    assert "AllReduce busbw" in facts.found(rule, slow, PAIR, PCIE).message
    middling = s.smoke(s.listed(2), took(6.0))
    assert facts.silent(rule, middling, PAIR, PCIE)
    assert facts.found(rule, middling, PAIR, BRIDGED)


def test_nvlink_that_was_not_used_is_the_reason() -> None:
    log = "box:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct\n"
    said = facts.found(rule, s.smoke(s.listed(2), took(6.0, log=log)), PAIR, BRIDGED)
    assert "NVLink was not used: NCCL went through SHM" in said.evidence[0].says
    said = facts.found(rule, s.smoke(s.listed(2), took(1.0, log=log)), PAIR, PCIE)
    assert "peer-to-peer was off" in said.evidence[0].says


def test_pairs_without_access_are_a_reason() -> None:
    closed = facts.topology({(0, 1): "PHB"}, {(0, 1): "GNS"})
    assert (
        "1 pairs of GPUs have no" in facts.found(rule, s.smoke(s.listed(2), took(1.0)), PAIR, closed).evidence[0].says
    )


def test_a_rehearsal_and_a_test_that_did_not_run() -> None:
    assert facts.silent(rule, s.smoke(s.listed(2), took(0.001, rehearsal=True)), PAIR, PCIE)
    assert facts.silent(rule, s.smoke(s.listed(2), SmokeResult("allreduce", "hung", "")), PAIR, PCIE)
