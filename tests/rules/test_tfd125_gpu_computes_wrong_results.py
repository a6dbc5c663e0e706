"""TFD125 gpu-computes-wrong-results: a comparison with mathematics failed."""

from __future__ import annotations

import facts
import smoke_results as s

from tfdoctor.rules.hardware.tfd125_gpu_computes_wrong_results import gpu_computes_wrong_results as rule
from tfdoctor.smoke.results import Check, SmokeResult


def test_each_wrong_check_is_named() -> None:
    checks = (
        Check("matmul fp16 on GPU:0", 1.0, 4.0, True),
        Check("matmul fp32 on GPU:0", 9.5, 0.5, False),
        Check("matmul tf32 on GPU:1", 8.5, 0.5, False),
    )
    outcome = facts.run(rule, s.smoke(SmokeResult("matmul", "wrong", "", checks=checks)))
    assert [d.message.partition(" is off")[0] for d in outcome.diagnoses] == [
        "matmul fp32 on GPU:0",
        "matmul tf32 on GPU:1",
    ]
    assert "off by 9.5" in outcome.diagnoses[0].message
    assert outcome.diagnoses[0].fixes[0].commands[0][:4] == ("tfdoctor", "smoke", "--test", "matmul")


def test_right_results_and_other_ends() -> None:
    right = SmokeResult("matmul", "passed", "", checks=(Check("x", 0.5, 0.5, True),))
    assert facts.silent(rule, s.smoke(right, SmokeResult("xla", "crashed", "SIGSEGV")))
