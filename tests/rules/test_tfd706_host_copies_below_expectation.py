"""TFD706 host-copies-below-expectation: against the link as it was under load."""

from __future__ import annotations

import facts
import smoke_results as s

from tfdoctor.rules.speed.tfd706_host_copies_below_expectation import host_copies_below_expectation as rule
from tfdoctor.smoke.results import Sample

LIMIT = facts.tables().threshold("smoke.copy.share").value
X16 = facts.tables().pcie(4).gbs(16)
GPUS = facts.gpus(facts.gpu(0, processes=()))


def rates(gbs: float):  # type: ignore[no-untyped-def]
    return s.listed(), s.measured(
        "copies", gb_per_second={"GPU:0 to_device": gbs, "GPU:0 on_device": 0.1, "CPU:0 to_device": 0.1}
    )


def test_below_at_and_above_the_limit() -> None:
    assert "to device" in facts.found(rule, s.smoke(*rates(0.99 * LIMIT * X16)), GPUS).message
    assert facts.silent(rule, s.smoke(*rates(LIMIT * X16)), GPUS)


def test_the_idle_link_does_not_count_and_the_loaded_one_does() -> None:
    """An idle GPU's link reads gen 1; a narrow one under load lowers what is expected and is the reason when it is slow."""
    idle = Sample(0, pcie_generation=1, pcie_width=16)
    loaded = Sample(0, pcie_generation=4, pcie_width=16)
    narrow = Sample(0, pcie_generation=4, pcie_width=4)
    assert facts.run(rule, s.smoke(*rates(3.0), copies=(idle, loaded)), GPUS).diagnoses
    assert facts.silent(rule, s.smoke(*rates(6.0), copies=(narrow,)), GPUS)
    said = facts.found(rule, s.smoke(*rates(1.0), copies=(narrow,)), GPUS)
    assert "x4 of x16" in said.evidence[0].says


def test_no_gpu_and_no_test() -> None:
    assert facts.silent(rule, s.smoke(s.listed(0), s.measured("copies", gb_per_second={"CPU:0 to_device": 0.1})), GPUS)
    assert facts.silent(rule, s.smoke(s.listed()), GPUS)
