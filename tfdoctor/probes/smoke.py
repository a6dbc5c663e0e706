"""What the smoke tests came to, once they ran, and what `check` predicted before them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from tfdoctor.engine import probe
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable
from tfdoctor.smoke.results import Experiment, KnownMessage, Sample, SmokeResult


@dataclass(frozen=True)
class SmokeResults:
    """Every smoke test of one run, in order; `experiments` are the differential runs, `samples` the state of each GPU
    while a test ran (test name -> samples), `known` the known errors in what failed tests printed. The probe raises NotApplicable when no smoke test was asked for."""

    results: tuple[SmokeResult, ...]
    experiments: tuple[Experiment, ...]
    samples: tuple[tuple[str, tuple[Sample, ...]], ...]
    source: str
    known: tuple[KnownMessage, ...] = ()

    def get(self, test: str) -> Optional[SmokeResult]:
        """The result of `test`, or None when it did not run."""
        return next((r for r in self.results if r.test == test), None)

    def during(self, test: str) -> tuple[Sample, ...]:
        """The samples taken while `test` ran."""
        return next((taken for name, taken in self.samples if name == test), ())

    def confirmation(self, diagnosis: str) -> Optional[Experiment]:
        """The experiment that helped and so confirms `diagnosis` (or another of those that it confirms)."""
        return next((e for e in self.experiments if e.helped and diagnosis in e.confirms), None)


@dataclass(frozen=True)
class Prediction:
    """What the rules concluded before any smoke test ran: "yes", "no" or "unknown", and the diagnosis named."""

    gpu: str
    because: Optional[str]


@probe
def smoke_results() -> SmokeResults:
    """Only `smoke` and `check --smoke` state this fact."""
    raise NotApplicable(_("the smoke tests were not run"))


@probe
def prediction() -> Prediction:
    """Only `check --smoke` states this fact."""
    raise NotApplicable(_("the smoke tests were not run"))
