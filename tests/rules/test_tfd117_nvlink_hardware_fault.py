"""TFD117 nvlink-hardware-fault: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.hardware.tfd117_nvlink_hardware_fault import nvlink_hardware_fault as rule


def test_sick() -> None:
    log = facts.kernel_log(facts.xid(74))
    diagnosis = facts.found(rule, facts.gpu_machine(), log, facts.gpus())
    assert "Xid 74" in diagnosis.message and "GPU 0" in diagnosis.message


def test_blackwell() -> None:
    assert "Xid 149" in facts.found(rule, facts.gpu_machine(), facts.kernel_log(facts.xid(149))).message


def test_a_fatal_switch_error_is_told_by_the_switch() -> None:
    sxid = facts.SXid(20034, "nvidia-nvswitch1", True, "")
    assert facts.silent(rule, facts.gpu_machine(), facts.kernel_log(facts.xid(74), sxids=(sxid,)))


def test_healthy() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.kernel_log(facts.xid(13)))
