"""TFD107 ecc-uncontained-reset-needed: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.hardware.tfd107_ecc_uncontained_reset_needed import ecc_uncontained_reset_needed as rule


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), facts.kernel_log(facts.xid(95)), facts.gpus())
    assert "Xid 95" in diagnosis.message and "GPU 0 (NVIDIA GeForce RTX 3090)" in diagnosis.message


def test_one_per_gpu() -> None:
    log = facts.kernel_log(facts.xid(95), facts.xid(95), facts.xid(95, bus="0000:41:00"))
    assert len(facts.run(rule, facts.gpu_machine(), log).diagnoses) == 2


def test_healthy() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.kernel_log(facts.xid(94)))
