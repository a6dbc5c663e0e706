"""algbw and busbw against the formulas that nccl-tests publish (doc/PERFORMANCE.md): busbw = S/t * 2 (n-1)/n."""

from __future__ import annotations

import pytest

from tfdoctor.smoke.results import algorithm_bandwidth, bus_bandwidth


@pytest.mark.parametrize(
    ("size", "seconds", "ranks", "algbw", "busbw"),
    [
        (1_000_000_000, 1.0, 2, 1.0, 1.0),
        (1_000_000_000, 0.5, 4, 2.0, 3.0),
        (8_000_000_000, 0.04, 8, 200.0, 350.0),
    ],
)
def test_published_formulas(size: int, seconds: float, ranks: int, algbw: float, busbw: float) -> None:
    assert algorithm_bandwidth(size, seconds) == pytest.approx(algbw)
    assert bus_bandwidth(size, seconds, ranks) == pytest.approx(busbw)


def test_one_rank_moves_nothing() -> None:
    assert bus_bandwidth(1024, 1.0, 1) == 0
