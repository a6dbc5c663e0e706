"""TFD803 p2p-broken-by-iommu-acs: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest
import smoke_results

from tfdoctor.model import Severity
from tfdoctor.rules.distributed.tfd803_p2p_broken_by_iommu_acs import p2p_broken_by_iommu_acs as rule

PAIR = facts.topology({(0, 1): "PHB"}, {(0, 1): "OK"})
TRANSLATED = facts.kernel_settings(iommu_groups=24)


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), PAIR, TRANSLATED)
    assert "GPU 0 and GPU 1" in diagnosis.message and "24 groups" in diagnosis.message


def test_acs_alone() -> None:
    settings = facts.kernel_settings(iommu_groups=0, acs_redirects=3)
    assert "3 PCIe bridges" in facts.found(rule, facts.gpu_machine(), PAIR, settings).message


@pytest.mark.parametrize("word", ["iommu=pt", "iommu.passthrough=1", "intel_iommu=off", "amd_iommu=off"])
def test_not_translated(word: str) -> None:
    assert facts.silent(
        rule, facts.gpu_machine(), PAIR, facts.kernel_settings(iommu_groups=24, command_line=("ro", word))
    )


def test_nvlink_and_no_access_are_not_concerned() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.topology({(0, 1): "NV4"}, {(0, 1): "OK"}), TRANSLATED)
    assert facts.silent(rule, facts.gpu_machine(), facts.topology({(0, 1): "PHB"}, {(0, 1): "GNS"}), TRANSLATED)


def test_virtual_machines_and_a_variable_that_avoids_it() -> None:
    assert facts.silent(rule, facts.gpu_machine(), PAIR, TRANSLATED, facts.cloud(virtual=True))
    assert facts.silent(rule, facts.gpu_machine(), PAIR, TRANSLATED, facts.environment(NCCL_P2P_DISABLE="1"))


def test_not_told() -> None:
    assert facts.silent(rule, facts.gpu_machine(), PAIR, facts.kernel_settings(iommu_groups=None, acs_redirects=None))


def test_an_experiment_makes_it_certain() -> None:
    """Also where nothing of the IOMMU or ACS is seen, as in a guest or without the right to read it."""
    plain = facts.kernel_settings(iommu_groups=0, acs_redirects=None)
    proof = smoke_results.helped("NCCL_P2P_DISABLE=1", "p2p-broken-by-iommu-acs")
    said = facts.found(rule, facts.gpu_machine(), PAIR, plain, proof)
    assert "works only without it" in said.message and said.severity is Severity.ERROR
    other = smoke_results.helped("NCCL_SHM_DISABLE=1", "shm-too-small")
    assert facts.silent(rule, facts.gpu_machine(), PAIR, plain, other)
