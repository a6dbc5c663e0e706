"""TFD106 ecc-uncorrectable-hardware: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.hardware.tfd106_ecc_uncorrectable_hardware import ecc_uncorrectable_hardware as rule


def card(**ecc: int) -> object:
    rows = facts.RowRemap(0, 0, False, False)
    return facts.gpus(facts.gpu(name="NVIDIA A100-SXM4-80GB", ecc=facts.Ecc(enabled=True, **ecc), rows=rows))


def test_remapping_failed() -> None:
    gpus = facts.gpus(facts.gpu(rows=facts.RowRemap(1, 7, False, True)))
    diagnosis = facts.found(rule, facts.gpu_machine(), gpus)
    assert "8 rows" in diagnosis.message and diagnosis.severity is None


def test_sram_above_the_limit_is_only_a_warning_for_its_source() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), card(sram_aggregate_uncorrected=5))
    assert "5 uncorrectable" in diagnosis.message and "4" in diagnosis.message
    assert diagnosis.severity is Severity.WARNING


def test_sram_at_the_limit() -> None:
    assert facts.silent(rule, facts.gpu_machine(), card(sram_aggregate_uncorrected=4))


def test_recent_errors() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), card(volatile_uncorrected=2))
    assert "2 uncorrectable" in diagnosis.message and diagnosis.severity is Severity.WARNING


def test_errors_of_its_life_that_were_repaired_are_no_fault() -> None:
    assert facts.silent(
        rule, facts.gpu_machine(), card(aggregate_uncorrected=3, volatile_uncorrected=0, volatile_corrected=900)
    )


def test_xid_48_alone() -> None:
    log = facts.kernel_log(facts.xid(48))
    assert "1 uncorrectable" in facts.found(rule, facts.gpu_machine(), card(), log).message


def test_xid_48_beside_94_is_told_there() -> None:
    assert facts.silent(rule, facts.gpu_machine(), card(), facts.kernel_log(facts.xid(48), facts.xid(94)))


def test_no_ecc() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus())
