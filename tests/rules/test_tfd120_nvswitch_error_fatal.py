"""TFD120 nvswitch-error-fatal: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.hardware.tfd120_nvswitch_error_fatal import nvswitch_error_fatal as rule


def test_sick() -> None:
    sxid = facts.SXid(20034, "nvidia-nvswitch1", True, "")
    diagnosis = facts.found(rule, facts.gpu_machine(), facts.kernel_log(sxids=(sxid, sxid)))
    assert (
        "2 fatal errors" in diagnosis.message
        and "nvidia-nvswitch1" in diagnosis.message
        and "20034" in diagnosis.message
    )


def test_errors_that_are_not_fatal() -> None:
    sxid = facts.SXid(12028, "nvidia-nvswitch1", False, "")
    assert facts.silent(rule, facts.gpu_machine(), facts.kernel_log(sxids=(sxid,)))


def test_healthy() -> None:
    assert facts.H100_SERVER.silent(rule)
