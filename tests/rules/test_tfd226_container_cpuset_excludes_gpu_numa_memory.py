"""TFD226 container-cpuset-excludes-gpu-numa-memory: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Status
from tfdoctor.rules.driver.tfd226_container_cpuset_excludes_gpu_numa_memory import (
    container_cpuset_excludes_gpu_numa_memory as rule,
)

LOG = facts.log_match("container-cpuset-excludes-gpu-numa-memory", "cudaSuccess (3 vs. 0)", (5,))


def test_sick() -> None:
    diagnosis = facts.found(rule, LOG, facts.platform(machine="ppc64le"), facts.container(kind="docker"))
    assert "cpuset" in diagnosis.message and diagnosis.evidence[1].says == "ppc64le"


def test_not_on_x86_and_not_outside_containers() -> None:
    assert facts.run(rule, LOG, facts.platform()).status is Status.NOT_APPLICABLE
    assert facts.run(rule, LOG, facts.container()).status is Status.NOT_APPLICABLE


def test_the_log_alone() -> None:
    assert facts.found(rule, LOG).message
