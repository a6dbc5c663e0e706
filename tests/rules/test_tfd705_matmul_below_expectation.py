"""TFD705 matmul-below-expectation: far below the model's dense peak, with the sampled reason."""

from __future__ import annotations

import facts
import pytest
import smoke_results as s

from tfdoctor.rules.speed.tfd705_matmul_below_expectation import matmul_below_expectation as rule
from tfdoctor.smoke.results import Sample

ROW = facts.tables().gpu("NVIDIA GeForce RTX 3090")
PEAK = ROW.fp16_tflops
LIMIT = facts.tables().threshold("smoke.matmul.share").value


def rates(share: float):  # type: ignore[no-untyped-def]
    return s.listed(), s.measured("matmul", tflops={"GPU:0 fp16": share * PEAK, "CPU:0 fp32": 0.001})


def test_below_at_and_above_the_limit() -> None:
    assert "fp16 on GPU:0" in facts.found(rule, s.smoke(*rates(LIMIT - 0.01))).message
    assert facts.silent(rule, s.smoke(*rates(LIMIT)))
    assert facts.silent(rule, s.smoke(*rates(0.9)))


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (Sample(0, temperature=91, utilization=99, throttle=frozenset({"sw-thermal"})), "held back by heat (91 °C)"),
        (Sample(0, power=350.4, utilization=99, throttle=frozenset({"sw-power-cap"})), "power limit (350 W)"),
        (Sample(0, utilization=20, cpu=99.0), "starved by the CPU"),
        (Sample(0, utilization=20, cpu=10.0), "busy at most 20 %"),
        (Sample(0, utilization=99, throttle=frozenset({"idle"})), "nothing unusual was sampled"),
    ],
)
def test_slow_comes_with_a_reason(sample: Sample, reason: str) -> None:
    said = facts.found(rule, s.smoke(*rates(0.1), matmul=(sample,)), facts.gpus(facts.gpu(0, processes=())))
    assert reason in said.evidence[0].says


def test_another_process_is_a_reason() -> None:
    other = facts.GpuProcess(pid=1234, name="python", memory=1024, user="", kind="compute")
    said = facts.found(rule, s.smoke(*rates(0.1)), facts.gpus(facts.gpu(0, processes=(other,))))
    assert "1 other processes compute" in said.evidence[0].says


def test_tf32_off_is_a_reason_where_it_would_matter() -> None:
    a100 = facts.tables().gpu("NVIDIA A100-SXM4-40GB")
    card = s.listed(measured={"gpus": 1, "listed": [{"name": "NVIDIA A100-SXM4-40GB"}]})
    slow = {"GPU:0 fp32": 0.9 * a100.fp32_tflops, "GPU:0 tf32": 0.9 * a100.fp32_tflops}
    said = facts.found(rule, s.smoke(card, s.measured("matmul", tflops=slow)))
    assert "TF32 is off on GPU:0" in said.evidence[0].says


def test_a_model_that_is_not_in_the_table_and_a_test_that_did_not_run() -> None:
    unknown = s.listed(measured={"gpus": 1, "listed": [{"name": "NVIDIA Unheard-of 1"}]})
    assert facts.silent(rule, s.smoke(unknown, s.measured("matmul", tflops={"GPU:0 fp16": 0.001})))
    assert facts.silent(rule, s.smoke(s.listed()))
