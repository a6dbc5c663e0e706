"""TFD116 nvlink-bridge-not-seated: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import smoke_results

from tfdoctor.rules.hardware.tfd116_nvlink_bridge_not_seated import nvlink_bridge_not_seated as rule


def test_sick() -> None:
    gpus = facts.gpus(facts.bridged(0, links=3), facts.bridged(1, links=3))
    diagnosis = facts.found(rule, facts.gpu_machine(), gpus)
    assert "3 of its 4 NVLinks" in diagnosis.message
    assert diagnosis.gpus == (0, 1)


def test_no_bridge_is_a_choice() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus(facts.bridged(0, links=0), facts.bridged(1, links=0)))


def test_healthy() -> None:
    assert facts.TWO_3090.silent(rule)
    assert facts.H100_SERVER.silent(rule)


def test_data_centre_cards_may_have_fewer_bridges() -> None:
    gpus = facts.gpus(
        facts.gpu(name="NVIDIA A100 80GB PCIe", nvlinks=tuple(facts.NvLink(i, i < 4, 3, "", "gpu") for i in range(12)))
    )
    assert facts.silent(rule, facts.gpu_machine(), gpus)


def test_all_links_up_and_an_experiment_that_helped() -> None:
    whole = facts.gpus(facts.bridged(0), facts.bridged(1))
    proof = smoke_results.helped("NCCL_P2P_DISABLE=1", "p2p-broken-by-iommu-acs", "nvlink-bridge-not-seated")
    assert "works only without it" in facts.found(rule, facts.gpu_machine(), whole, proof).message
    assert facts.silent(rule, facts.gpu_machine(), whole, smoke_results.helped("NCCL_SHM_DISABLE=1", "shm-too-small"))
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus(facts.gpu(0), facts.gpu(1)), proof)
