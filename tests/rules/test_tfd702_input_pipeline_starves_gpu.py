"""TFD702 input-pipeline-starves-gpu: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.speed.tfd702_input_pipeline_starves_gpu import input_pipeline_starves_gpu as rule

LOG = facts.log_match("input-pipeline-starves-gpu", "", (3,))


def test_sick() -> None:
    diagnosis = facts.found(rule, LOG, facts.cpu(cores=8), facts.gpus(facts.gpu(0), facts.gpu(1)))
    assert "8 processor cores for 2 GPUs" in diagnosis.message


def test_the_log_alone() -> None:
    assert facts.found(rule, LOG).message
    assert rule.log_only
