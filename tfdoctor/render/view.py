"""What every machine-readable format of a check shows: verdict, requirements, diagnoses, as flat rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Optional

from tfdoctor.model import Diagnosis, Outcome, Report, Severity
from tfdoctor.preflight.judge import Judgement
from tfdoctor.scrub import Scrubber


@dataclass(frozen=True)
class Checked:
    """A report and how the requirements came out. `scrub` takes private data out of the facts, for what leaves the
    machine (outgoing.py)."""

    report: Report
    judgements: tuple[Judgement, ...] = ()
    scrub: Optional[Scrubber] = None

    @property
    def findings(self) -> Iterator[tuple[Outcome, Diagnosis, Severity]]:
        """Every diagnosis with its severity, worst first."""
        for outcome in self.report.found:
            for diagnosis in outcome.diagnoses:
                yield outcome, diagnosis, diagnosis.severity or outcome.rule.severity

    @property
    def unmet(self) -> tuple[Judgement, ...]:
        """The requirements that do not hold or could not be looked at."""
        return tuple(j for j in self.judgements if not j.met)
