"""TFD808 nccl-not-on-windows: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.distributed.tfd808_nccl_not_on_windows import nccl_not_on_windows as rule

TWO = facts.gpus(facts.gpu(0), facts.gpu(1))
TF = facts.tensorflow_release("2.10.1")


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), facts.windows(), TWO, TF)
    assert "2.10.1" in diagnosis.message and "2 GPUs" in diagnosis.message


def test_one_gpu_other_systems_and_cpu_builds() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.windows(), facts.gpus(), TF)
    assert facts.silent(rule, facts.gpu_machine(), facts.platform(), TWO, TF)
    assert facts.silent(rule, facts.gpu_machine(), facts.windows(), TWO, facts.tensorflow(cuda_build=False))
