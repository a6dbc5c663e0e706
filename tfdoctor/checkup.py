"""The whole way once: host, facts, rules, verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Optional

from tfdoctor.engine import Facts, all_probes, all_rules, fold, run_rule, run_rules
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import BadInput, Crash, Evidence, LogMatch, Outcome, Report, Rule, Status
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
    rules = [r for r in all_rules() if smoke is not None or not r.log_only]
    wanted = {r.code for r in named(only, rules)} or {r.code for r in rules}
    wanted -= {r.code for r in named(skip, rules)}
    facts = facts_of(host)
    outcomes = run_rules((r for r in rules if not r.log_only), facts)
    verdict = decide(outcomes, facts)
    if smoke is not None:
        from tfdoctor.smoke.known import with_known

        facts.put(Prediction(verdict.gpu, verdict.because))
        smoke = with_known(smoke, facts)
        facts.put(smoke)
        outcomes = confirmed(fold(_with_smoke(rules, facts, smoke)), smoke)
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


def _with_smoke(rules: Sequence[Rule], facts: Facts, smoke: SmokeResults) -> Iterator[Outcome]:
    """Every rule once more, those that only a log can show with what the smoke tests showed of them."""
    from tfdoctor.smoke.known import matches

    shown = {match.cause: match for match in matches(smoke, facts.get(Tables))}
    reading = [r for r in rules if r.name in shown and any(kind is LogMatch for kind, _o in r.needs.values())]
    for rule in rules:
        if not rule.log_only and rule not in reading:
            yield run_rule(rule, facts)
    for rule in reading:  # last: each gets the match of its own, which is no other rule's business
        facts.put(shown[rule.name])
        yield run_rule(rule, facts)


def confirmed(outcomes: Iterable[Outcome], smoke: SmokeResults) -> tuple[Outcome, ...]:
    """Outcomes whose diagnosis an experiment asked about tell what came of it."""
    return tuple(_with_evidence(o, smoke) for o in outcomes)


def _with_evidence(outcome: Outcome, smoke: SmokeResults) -> Outcome:
    asked = [e for e in smoke.experiments if outcome.rule.name in e.confirms]
    if outcome.status is not Status.FOUND or not asked:
        return outcome
    helped = next((e for e in asked if e.helped), None)
    if helped is not None:
        text = _("confirmed by experiment: {test} works with {what}").format(test=helped.test, what=helped.what)
    else:
        tried = ", ".join(e.what for e in asked)
        text = _("not confirmed by experiment: {test} does not work with {what} either").format(
            test=asked[0].test, what=tried
        )
    evidence = Evidence(text, smoke.source)
    return replace(outcome, diagnoses=tuple(replace(d, evidence=(*d.evidence, evidence)) for d in outcome.diagnoses))


def _unfold(outcome: Outcome, wanted: set[str]) -> Outcome:
    """A consequence whose cause is not shown stands by itself."""
    return outcome if outcome.folded_under in wanted else replace(outcome, folded_under=None)


def named(names: Iterable[str], rules: Iterable[Rule]) -> list[Rule]:
    """The rules that codes or names, also several with commas between, mean. Raises BadInput for one that is none."""
    by_name = {key: r for r in rules for key in (r.code.lower(), r.name)}
    chosen = []
    for name in (part.strip() for entry in names for part in entry.split(",")):
        if name.lower() not in by_name:
            near = [by_name[key] for key in get_close_matches(name.lower(), by_name, n=3, cutoff=0.5)]
            listed = ", ".join(dict.fromkeys(f"{r.code} {r.name}" for r in near))
            hint = _(" Did you mean {near}?").format(near=listed) if near else ""
            raise BadInput(_("There is no diagnosis {name!r}.{hint}").format(name=name, hint=hint))
        chosen.append(by_name[name.lower()])
    return chosen
