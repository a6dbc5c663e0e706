"""TFD605 mig-one-instance-per-process: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules.configuration.tfd605_mig_one_instance_per_process import mig_one_instance_per_process as rule
from tfdoctor.verdict import decide

GPU = facts.gpu_machine()
PART = facts.MigInstance("3g.40gb", 40 * facts.GIB)


def _split(*parts: facts.MigInstance) -> Gpus:
    return facts.gpus(facts.gpu(name="NVIDIA A100-SXM4-80GB", mig=True, mig_instances=parts))


def test_two_instances() -> None:
    found = facts.found(rule, GPU, _split(PART, PART), facts.environment())
    assert "2 instances" in found.message and "A100" in found.message and found.severity is Severity.INFO


def test_one_was_chosen() -> None:
    assert facts.silent(rule, GPU, _split(PART, PART), facts.environment(CUDA_VISIBLE_DEVICES="MIG-1234"))


def test_no_instance() -> None:
    assert facts.found(rule, GPU, _split()).severity is Severity.WARNING


def test_no_instance_and_cuda_finds_none() -> None:
    assert facts.found(rule, GPU, _split(), facts.cuda_fails(100)).severity is None
    assert facts.silent(rule, GPU, _split(), facts.cuda_driver())
    machine = facts.MIG_A100.but(_split(), facts.environment(), facts.cuda_fails(100))
    verdict = decide(machine.outcomes(), machine.facts())
    assert (verdict.gpu, verdict.because) == ("no", "mig-one-instance-per-process")


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.gpus())
    assert facts.silent(rule, GPU, facts.gpus(facts.gpu(mig=False)))
    assert facts.silent(rule, GPU, _split(PART))
