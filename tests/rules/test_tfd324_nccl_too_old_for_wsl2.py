"""TFD324 nccl-too-old-for-wsl2: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.libraries.tfd324_nccl_too_old_for_wsl2 import nccl_too_old_for_wsl2 as rule

GPU = facts.gpu_machine(count=2)
WSL = facts.platform(wsl=2, kernel="5.15.153.1-microsoft-standard-WSL2")
TWO = facts.gpus(facts.gpu(0), facts.gpu(1))


def test_the_nccl_of_2_9() -> None:
    found = facts.found(rule, GPU, WSL, facts.tensorflow_release("2.9.3"), TWO)
    assert "2.8.3" in found.message and "2.10" in found.message


def test_healthy() -> None:
    assert facts.silent(rule, GPU, WSL, facts.tensorflow_release("2.10.1"), TWO)


def test_rests_elsewhere() -> None:
    assert facts.silent(rule, GPU, facts.platform(), facts.tensorflow_release("2.9.3"), TWO)
    assert facts.silent(rule, GPU, WSL, facts.tensorflow_release("2.9.3"), facts.gpus())
