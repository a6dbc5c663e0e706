"""TFD214 driver-uvm-broken-after-suspend: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Status
from tfdoctor.rules.driver.tfd214_driver_uvm_broken_after_suspend import driver_uvm_broken_after_suspend as rule

LOG = facts.log_match("driver-uvm-broken-after-suspend", "CUDA_ERROR_UNKNOWN", (4,))
RESUMED = facts.kernel_log(lines=(("resume", "PM: suspend exit"),))


def test_sick() -> None:
    diagnosis = facts.found(rule, LOG, facts.platform(), RESUMED, facts.device_nodes())
    assert "resumed from suspend" in diagnosis.message and len(diagnosis.evidence) == 2


def test_never_slept() -> None:
    assert facts.run(rule, LOG, facts.kernel_log()).status is Status.NOT_APPLICABLE


def test_without_the_node_it_is_another_fault() -> None:
    nodes = facts.device_nodes(facts.device_node("/dev/nvidia0"))
    assert facts.run(rule, LOG, nodes, RESUMED).status is Status.NOT_APPLICABLE


def test_the_log_alone() -> None:
    assert facts.found(rule, LOG).message


def test_cuda_fails_after_a_resume() -> None:
    machine = facts.WORKSTATION.but(RESUMED, facts.cuda_fails(999))
    assert "(999)" in machine.found(rule).evidence[0].says
    assert machine.codes()["TFD241"] == "TFD214"
    assert facts.WORKSTATION.but(facts.cuda_fails(999)).silent(rule)


def test_healthy() -> None:
    assert facts.WORKSTATION.silent(rule)
    assert facts.WORKSTATION.but(RESUMED, facts.cuda_driver()).silent(rule)
