"""TFD524 smoke-test-failed: a test did not come to its end."""

from __future__ import annotations

from dataclasses import replace

import facts
import pytest
import smoke_results as s

from tfdoctor.rules.tensorflow.tfd524_smoke_test_failed import smoke_test_failed as rule
from tfdoctor.smoke.results import KnownMessage, SmokeResult


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("failed", "ended with an error"),
        ("out-of-memory", "ran out of memory"),
        ("crashed", "crashed"),
        ("hung", "hung"),
    ],
)
def test_each_end(state: str, word: str) -> None:
    said = facts.found(rule, s.smoke(s.listed(), SmokeResult("xla", state, "the detail.", stage="compiling")))
    assert said.message == f"The smoke test xla {word}: the detail."
    assert "compiling" in said.evidence[0].says


def test_known_messages_are_evidence() -> None:
    failed = SmokeResult("allreduce", "failed", "unhandled system error")
    known = KnownMessage("allreduce", "shm-too-small", "TFD802", "NCCL WARN …")
    said = facts.found(rule, replace(s.smoke(failed), known=(known,)))
    assert any("shm-too-small (TFD802)" in e.says for e in said.evidence)


def test_what_helped_is_said() -> None:
    assert "It works with NCCL_P2P_DISABLE=1." in facts.found(rule, s.helped("NCCL_P2P_DISABLE=1", "x")).message


@pytest.mark.parametrize("state", ["passed", "wrong", "not-run"])
def test_silent(state: str) -> None:
    assert facts.silent(rule, s.smoke(SmokeResult("xla", state, "")))
