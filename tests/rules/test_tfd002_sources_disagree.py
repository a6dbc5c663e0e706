"""TFD002 sources-disagree: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.itself.tfd002_sources_disagree import sources_disagree as rule


def test_sick() -> None:
    says = "NVML lists 2 GPUs, nvidia-smi 1."
    diagnosis = facts.found(rule, facts.gpus(disagreements=(says, "the second")))
    assert says in diagnosis.message and "2 contradictions" in diagnosis.message
    assert len(diagnosis.evidence) == 2


def test_healthy() -> None:
    assert facts.silent(rule, facts.gpus())
