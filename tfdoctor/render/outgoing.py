"""What leaves the machine: every text of a check without private data. Only the terminal's own text shows them."""

from __future__ import annotations

from dataclasses import replace

from tfdoctor.model import Crash, Diagnosis, Evidence, Fix, Outcome, Report
from tfdoctor.preflight.judge import Judgement
from tfdoctor.render.plain import plain
from tfdoctor.render.view import Checked
from tfdoctor.scrub import Scrubber


def outgoing(checked: Checked, scrub: Scrubber) -> Checked:
    """`checked` with every sentence scrubbed, and the scrubber for the facts.

    What a program may run stays as it is: commands and variables of fixes, and the target interpreter's path.
    """
    scrub = knowing(checked.report, scrub)
    return Checked(_report(checked.report, scrub), tuple(_judgement(j, scrub) for j in checked.judgements), scrub)


def knowing(report: Report, scrub: Scrubber) -> Scrubber:
    """`scrub`, which now knows the versions that this report's facts name."""
    scrub.learn_value(plain(report.facts))
    return scrub


def _report(report: Report, scrub: Scrubber) -> Report:
    return replace(
        report,
        missing={name: scrub.text(why) for name, why in report.missing.items()},
        outcomes=tuple(_outcome(outcome, scrub) for outcome in report.outcomes),
        crashes=tuple(Crash(crash.what, scrub.text(crash.error)) for crash in report.crashes),
        verdict=replace(report.verdict, summary=scrub.text(report.verdict.summary)),
    )


def _outcome(outcome: Outcome, scrub: Scrubber) -> Outcome:
    if not outcome.diagnoses and not outcome.reason:
        return outcome
    diagnoses = tuple(_diagnosis(diagnosis, scrub) for diagnosis in outcome.diagnoses)
    return replace(outcome, diagnoses=diagnoses, reason=scrub.text(outcome.reason))


def _diagnosis(diagnosis: Diagnosis, scrub: Scrubber) -> Diagnosis:
    evidence = tuple(Evidence(scrub.text(e.says), scrub.text(e.source)) for e in diagnosis.evidence)
    fixes = tuple(_fix(fix, scrub) for fix in diagnosis.fixes)
    return replace(diagnosis, message=scrub.text(diagnosis.message), evidence=evidence, fixes=fixes)


def _fix(fix: Fix, scrub: Scrubber) -> Fix:
    return replace(fix, title=scrub.text(fix.title), note=scrub.text(fix.note))


def _judgement(judgement: Judgement, scrub: Scrubber) -> Judgement:
    return replace(judgement, have=scrub.text(judgement.have), why=scrub.text(judgement.why))
