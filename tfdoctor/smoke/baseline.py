"""Compares a round of smoke tests with an earlier one: what got slower, beyond its noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from tfdoctor.i18n import _
from tfdoctor.model import BadInput
from tfdoctor.reading import printed_by
from tfdoctor.smoke.results import SmokeResult

# This project's choice: beyond the spread of both runs' repeats, and beyond what clocks alone change from day to day.
LEAST = 0.1

Rates = Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Change:
    """A rate (the higher the better) then and now, medians, and the half spread of the repeats as a share of the median."""

    what: str
    then: float
    now: float
    noise: float

    @property
    def share(self) -> float:
        """-0.2: a fifth slower."""
        return self.now / self.then - 1

    @property
    def slower(self) -> bool:
        """Beyond the noise."""
        return self.share < -max(LEAST, self.noise)


def rates_of(results: Iterable[SmokeResult]) -> dict[str, tuple[float, ...]]:
    """What was measured -> the rates of its repeats."""
    return {
        what: tuple(map(float, rates))
        for r in results
        for what, rates in r.measured.get("repeats", {}).items()
        if rates
    }


def earlier(path: str) -> Rates:
    """The rates of a file that `tfdoctor smoke --format json` wrote. Raises BadInput for any other."""
    value = printed_by("smoke", path, ("schema", "tests", "measured"), _("--baseline wants that of an earlier run"))
    try:
        repeats = [test["measured"].get("repeats", {}) for test in value["tests"]]
        return {what: tuple(map(float, rates)) for each in repeats for what, rates in each.items() if rates}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        text = _("{path} is not what `tfdoctor smoke --format json` prints ({error}).")
        raise BadInput(text.format(path=path, error=str(error) or type(error).__name__)) from error


def compare(then: Rates, now: Rates) -> Iterator[Change]:
    """What both runs measured, by name."""
    for what in sorted(then.keys() & now.keys()):
        before, after = median(then[what]), median(now[what])
        if before > 0 and after > 0:
            yield Change(what, before, after, _spread(then[what]) + _spread(now[what]))


def _spread(rates: tuple[float, ...]) -> float:
    return (max(rates) - min(rates)) / 2 / median(rates)
