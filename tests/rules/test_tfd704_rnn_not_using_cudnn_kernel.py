"""TFD704 rnn-not-using-cudnn-kernel: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.speed.tfd704_rnn_not_using_cudnn_kernel import rnn_not_using_cudnn_kernel as rule


def test_sick() -> None:
    log = facts.log_match("rnn-not-using-cudnn-kernel", "will not use cuDNN kernels", (8,), layer="lstm_1")
    diagnosis = facts.found(rule, log)
    assert "lstm_1" in diagnosis.message and "line 8" in diagnosis.evidence[0].says


def test_not_in_a_check() -> None:
    assert rule.log_only
