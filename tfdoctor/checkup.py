"""The whole way once: host, facts, rules, verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Optional

from tfdoctor.engine import Facts, all_probes, all_rules, run_rules
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import BadInput, Crash, Outcome, Report, Rule, Status
from tfdoctor.probes.smoke import Prediction, SmokeResults
from tfdoctor.tables import Tables
from tfdoctor.verdict import decide, prove


def facts_of(host: Host) -> Facts:
    """The facts of `host`; each is looked at when it is first needed."""
    return Facts([host, Tables()], all_probes())


@dataclass(frozen=True)
class Examination:
    """What one check came to, and the facts it rests on, for whoever wants to compare them with something."""

    report: Report
    facts: Facts


def check(
    host: Host, *, only: Iterable[str] = (), skip: Iterable[str] = (), smoke: Optional[SmokeResults] = None
) -> Report:
    """`examine` where only the report is wanted."""
    return examine(host, only=only, skip=skip, smoke=smoke).report


def examine(
    host: Host, *, only: Iterable[str] = (), skip: Iterable[str] = (), smoke: Optional[SmokeResults] = None
) -> Examination:
    """Examine `host`, with what the smoke tests came to where they were run.

    `only` and `skip` (codes or names) choose what is reported; the verdict is always over everything.
    """
    rules = [r for r in all_rules() if not r.log_only]
    wanted = {r.code for r in _named(only, rules)} or {r.code for r in rules}
    wanted -= {r.code for r in _named(skip, rules)}
    facts = facts_of(host)
    outcomes = run_rules(rules, facts)
    verdict = decide(outcomes, facts)
    if smoke is not None:
        facts.put(Prediction(verdict.gpu, verdict.because))
        facts.put(smoke)
        outcomes = run_rules(rules, facts)
        verdict = prove(verdict, smoke)
    facts.look_at_all()
    crashes = [*facts.crashes]
    crashes += [Crash(f"{o.rule.code} {o.rule.name}", o.reason) for o in outcomes if o.status is Status.CRASHED]
    report = Report(
        target=host.target,
        facts=facts.seen(),
        missing=facts.missing(),
        outcomes=tuple(_unfold(o, wanted) for o in outcomes if o.rule.code in wanted),
        crashes=tuple(crashes),
        verdict=verdict,
        resting=facts.resting(),
    )
    return Examination(report, facts)


def _unfold(outcome: Outcome, wanted: set[str]) -> Outcome:
    """A consequence whose cause is not shown stands by itself."""
    return outcome if outcome.folded_under in wanted else replace(outcome, folded_under=None)


def _named(names: Iterable[str], rules: list[Rule]) -> list[Rule]:
    by_name = {key: r for r in rules for key in (r.code.lower(), r.name)}
    chosen = []
    for name in (part.strip() for entry in names for part in entry.split(",")):
        if name.lower() not in by_name:
            near = get_close_matches(name.lower(), by_name, n=3, cutoff=0.5)
            hint = _(" Did you mean {near}?").format(near=", ".join(near)) if near else ""
            raise BadInput(_("There is no diagnosis {name}.{hint}").format(name=name, hint=hint))
        chosen.append(by_name[name.lower()])
    return chosen
