"""What leaves the machine: every text of a check without private data. Only the terminal's own text shows them."""

from __future__ import annotations

import re
from dataclasses import replace

from tfdoctor.model import Crash, Diagnosis, Evidence, Fix, Outcome, Report
from tfdoctor.preflight.judge import Judgement
from tfdoctor.probes.environment import Environment
from tfdoctor.render.view import Checked
from tfdoctor.scrub import Scrubber

# At the beginning of a value or after a separator, and not part of a path: a folder may be named for a version.
ADDRESS = re.compile(r"(?<![\w./-])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\w.-])")


def outgoing(checked: Checked, scrub: Scrubber) -> Checked:
    """`checked` with every sentence scrubbed, and the scrubber for the facts.

    What is there to be run stays as it is: commands and variables of fixes, and the target interpreter's path.
    """
    return Checked(_report(checked.report, scrub), tuple(_judgement(j, scrub) for j in checked.judgements), scrub)


def _report(report: Report, scrub: Scrubber) -> Report:
    return replace(
        report,
        facts={name: _environment(f, scrub) if isinstance(f, Environment) else f for name, f in report.facts.items()},
        missing={name: scrub.text(why) for name, why in report.missing.items()},
        outcomes=tuple(_outcome(outcome, scrub) for outcome in report.outcomes),
        crashes=tuple(Crash(crash.what, scrub.text(crash.error)) for crash in report.crashes),
        verdict=replace(report.verdict, summary=scrub.text(report.verdict.summary)),
    )


def _environment(environment: Environment, scrub: Scrubber) -> Environment:
    """A whole value with four parts is a version only where the variable's name says so."""
    values = {name: _value(name, value, scrub) for name, value in environment.variables.items()}
    return replace(environment, variables=values)


def _value(name: str, value: str, scrub: Scrubber) -> str:
    return scrub.text(value) if "VERSION" in name else scrub.text(ADDRESS.sub("192.0.2.1", value))


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
    """A version with four parts is no address here; a version seen, and the sentence with it, holds nothing else."""
    if judgement.requirement.kind == "version" and judgement.state != "unknown":
        return judgement
    return replace(judgement, have=scrub.text(judgement.have), why=scrub.text(judgement.why))
