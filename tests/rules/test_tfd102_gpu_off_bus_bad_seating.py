"""TFD102 gpu-off-bus-bad-seating: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.hardware.tfd102_gpu_off_bus_bad_seating import gpu_off_bus_bad_seating as rule

LINE = ("aer", "pcieport 0000:02:00.0: AER: Corrected error received")


def test_sick() -> None:
    log = facts.kernel_log(facts.xid(79, bus="0000:02:00"), lines=(LINE, LINE))
    diagnosis = facts.found(rule, log, facts.gpus(facts.gpu(0), facts.gpu(1, lost=True)))
    assert "after 2 link errors at 0000:02:00" in diagnosis.message
    assert diagnosis.gpus == (1,)


def test_lost_without_link_errors_is_another_fault() -> None:
    assert facts.silent(rule, facts.kernel_log(facts.xid(79, bus="0000:02:00")), facts.gpus())


def test_link_errors_elsewhere() -> None:
    log = facts.kernel_log(facts.xid(79, bus="0000:01:00"), lines=(LINE,))
    assert facts.silent(rule, log, facts.gpus())


def test_healthy() -> None:
    assert facts.silent(rule, facts.kernel_log(lines=(LINE,)), facts.gpus())
