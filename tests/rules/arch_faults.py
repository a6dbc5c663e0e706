"""GPUs against builds, for the tests of TFD518 to TFD521."""

from __future__ import annotations

from typing import Optional

import facts

from tfdoctor.model import Diagnosis, Rule
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow.tfd518_gpu_compute_capability_too_low import gpu_compute_capability_too_low
from tfdoctor.rules.tensorflow.tfd519_gpu_arch_not_in_build_old import gpu_arch_not_in_build_old
from tfdoctor.rules.tensorflow.tfd520_gpu_arch_newer_than_build import gpu_arch_newer_than_build
from tfdoctor.rules.tensorflow.tfd521_gpu_arch_ptx_jit_slow_start import gpu_arch_ptx_jit_slow_start

RULES = (
    gpu_compute_capability_too_low,
    gpu_arch_not_in_build_old,
    gpu_arch_newer_than_build,
    gpu_arch_ptx_jit_slow_start,
)


def which(capability: Optional[str], tensorflow: TensorFlow) -> list[str]:
    """The codes of the four rules that fire for one GPU: never more than one."""
    given = (facts.gpu_machine(), tensorflow, facts.gpus(facts.gpu(compute_capability=capability)))
    return [rule.code for rule in RULES if facts.run(rule, *given).diagnoses]


def found(rule: Rule, capability: str, tensorflow: TensorFlow) -> Diagnosis:
    """What the rule says of a machine with one GPU of that compute capability."""
    return facts.found(rule, facts.gpu_machine(), tensorflow, facts.gpus(facts.gpu(compute_capability=capability)))
