"""TFD215 driver-uvm-hmm-failure: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Status
from tfdoctor.rules.driver.tfd215_driver_uvm_hmm_failure import driver_uvm_hmm_failure as rule

LOG = facts.log_match("driver-uvm-hmm-failure", "CUDA_ERROR_NOT_INITIALIZED", (4,))


def test_sick() -> None:
    diagnosis = facts.found(rule, LOG, facts.platform(), facts.kernel_driver(flavour="open"))
    assert "open kernel modules" in diagnosis.message


def test_wsl_has_none() -> None:
    assert facts.run(rule, LOG, facts.platform(wsl=2)).status is Status.NOT_APPLICABLE


def test_the_log_alone() -> None:
    assert facts.found(rule, LOG).message


def test_cuda_is_not_initialized() -> None:
    machine = facts.WORKSTATION.but(facts.cuda_fails(3))
    assert "(3)" in machine.found(rule).evidence[0].says
    assert machine.codes()["TFD241"] == "TFD215"


def test_healthy() -> None:
    assert facts.WORKSTATION.silent(rule)
    assert facts.WORKSTATION.but(facts.cuda_fails(999)).silent(rule)
