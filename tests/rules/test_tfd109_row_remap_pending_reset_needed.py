"""TFD109 row-remap-pending-reset-needed: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.hardware.tfd109_row_remap_pending_reset_needed import row_remap_pending_reset_needed as rule


def pending(**rows: object) -> object:
    values = {"corrected": 1, "uncorrected": 0, "pending": True, "failed": False, **rows}
    return facts.gpus(facts.gpu(rows=facts.RowRemap(**values)))  # type: ignore[arg-type]


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), pending(uncorrected=2))
    assert "1 after correctable, 2 after uncorrectable" in diagnosis.message
    assert diagnosis.severity is None


def test_only_correctable_is_mild() -> None:
    assert facts.found(rule, facts.gpu_machine(), pending()).severity is Severity.INFO


def test_pages_of_older_cards() -> None:
    assert "pages" in facts.found(rule, facts.gpu_machine(), pending(pages=True, uncorrected=1)).message


def test_a_failure_is_another_fault() -> None:
    assert facts.silent(rule, facts.gpu_machine(), pending(failed=True))


def test_healthy_and_not_supported() -> None:
    assert facts.silent(rule, facts.gpu_machine(), pending(pending=False))
    assert facts.silent(rule, facts.gpu_machine(), facts.gpus())
