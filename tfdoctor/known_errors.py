"""Log text -> known messages -> diagnoses: what `tfdoctor explain` answers.

The steps live in tfdoctor/logs: reader (any log as lines), matcher (known messages), situation (what is said of the
machine), decide (which cause). Here they are joined, with the rules' own words and, where there is a machine, its facts.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import BinaryIO, Callable, Optional

from tfdoctor.engine import Facts, Probe, all_probes, run_rule
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.logs.codes import CodePage, named_in
from tfdoctor.logs.decide import Answer, decide
from tfdoctor.logs.machine import disagreement, facts_stated, situation_of
from tfdoctor.logs.matcher import Found, Matcher, Scan
from tfdoctor.logs.reader import blocks
from tfdoctor.logs.situation import Situation, derived, stated_by_log
from tfdoctor.model import Crash, Diagnosis, Fix, LogMatch, Outcome, Rule, Safety, Status, Unavailable
from tfdoctor.tables import Tables
from tfdoctor.tables.log_rows import KnownCause, KnownError

#: Lines quoted for one answer.
QUOTES = 3


@dataclass(frozen=True)
class Explained:
    """One answer with its words. `lines` are the first line numbers, `count` all occurrences (`more`: at least that
    many); `quotes` are (line number, text) of its messages. `alternatives` are names, likeliest first."""

    code: str
    name: str
    role: str
    lines: tuple[int, ...]
    count: int
    more: bool
    quotes: tuple[tuple[int, str], ...]
    message: str
    alternatives: tuple[str, ...]
    decide_by: str
    fixes: tuple[Fix, ...]


@dataclass(frozen=True)
class Explanation:
    """What a log came to. `odd`: lines that look like errors and that nobody knows (number, text), `codes` what the codes in
    them mean. `situation`: what was taken as known of the machine. `remark`: why the machine's facts were left out, or "". `crashes`: parts of tfdoctor
    that failed on the way."""

    lines: int
    answers: tuple[Explained, ...]
    odd: tuple[tuple[int, str], ...]
    codes: tuple[CodePage, ...]
    situation: Situation
    remark: str
    crashes: tuple[Crash, ...] = ()


@dataclass(frozen=True)
class Catalogue:
    """The known messages and causes, ready for use."""

    tables: Tables
    matcher: Matcher
    causes: Mapping[str, KnownCause]

    @classmethod
    def load(cls, tables: Optional[Tables] = None) -> Catalogue:
        """From compat/. Raises TableError."""
        tables = tables or Tables()
        causes = {cause.name: cause for cause in tables.rows(KnownCause)}
        return cls(tables, Matcher(tables.rows(KnownError)), causes)


def explain(
    stream: BinaryIO,
    catalogue: Catalogue,
    *,
    given: Situation,
    host: Optional[Host] = None,
    progress: Optional[Callable[[int], None]] = None,
) -> Explanation:
    """Explain a log. `given` is what somebody says of the machine; `host` is the machine itself, if it may be asked."""
    return explain_scan(catalogue.matcher.scan(blocks(stream, progress)), catalogue, given=given, host=host)


def explain_scan(scan: Scan, catalogue: Catalogue, *, given: Situation, host: Optional[Host] = None) -> Explanation:
    """Explain a log that was already looked through."""
    stated = stated_by_log(scan, catalogue.tables)
    facts, machine, remark = _facts(host, {**stated, **given}, catalogue.tables)
    situation = derived({**machine, **stated, **given}, catalogue.tables)
    for fact in facts_stated(situation if not machine else given, catalogue.tables):
        facts.put(fact)
    rules = Rules(facts, on_machine=bool(machine))
    verdicts = rules.seen(_candidates(scan, catalogue))
    answers = decide(scan.found, situation, catalogue.causes, verdicts)
    if not answers and not machine and host is None:
        answers, verdicts = _by_what_is_said(rules, catalogue)
    told = tuple(_told(answer, rules, verdicts) for answer in _with_consequences(answers, rules))
    codes = named_in((text for _line, text in scan.odd), catalogue.tables)
    return Explanation(scan.lines, told, scan.odd, codes, situation, remark, (*facts.crashes, *rules.crashes))


def _by_what_is_said(rules: Rules, catalogue: Catalogue) -> tuple[tuple[Answer, ...], dict[str, bool]]:
    """Where no line is known: what the facts that were said or stated show by themselves, if it keeps TensorFlow from the
    GPU. A maintainer may have nothing but "TensorFlow 2.12 on Windows, list of GPUs is empty"."""
    causes = [cause for cause in catalogue.causes.values() if not cause.harmless and rules.blocks(cause)]
    verdicts = rules.seen(causes)
    found = [cause for cause in causes if verdicts.get(cause.name)]
    return tuple(Answer(cause, "cause", 0, (), (), cause.look or "") for cause in found), verdicts


def _candidates(scan: Scan, catalogue: Catalogue) -> list[KnownCause]:
    names = {m.cause for item in scan.found for m in item.row.means}
    return [catalogue.causes[name] for name in sorted(names)]


def _facts(host: Optional[Host], stated: Situation, tables: Tables) -> tuple[Facts, Situation, str]:
    """The facts that rules may use, what they say of the machine, and why it is left out if it is."""
    if host is None:
        return _blind(tables, _("no machine is looked at (--no-host)")), {}, ""
    facts = Facts([host, tables], all_probes())
    machine = situation_of(facts)
    other = disagreement(stated, machine)
    if other is None:
        return facts, machine, ""
    return (
        _blind(tables, other),
        {},
        _("The log is not from this machine ({why}); its facts are left out.").format(why=other),
    )


def _blind(tables: Tables, why: str) -> Facts:
    """Facts of which none can be looked at, for the same reason."""

    def look() -> None:
        raise Unavailable(why)

    blind = [Probe(p.makes, look, {}) for p in all_probes()]
    return Facts([tables], [*blind, Probe(Host, look, {})])


class Rules:
    """The rules of some causes, run over `facts`."""

    def __init__(self, facts: Facts, *, on_machine: bool) -> None:
        self._facts = facts
        self._on_machine = on_machine
        self._diagnoses: dict[str, Diagnosis] = {}
        self._rules: dict[str, Rule] = {}
        self.crashes: list[Crash] = []

    def rule(self, cause: KnownCause) -> Optional[Rule]:
        """The rule of a cause; None for a harmless one."""
        if cause.code not in self._rules:
            self._rules.update(rules_of([cause.code]))
        return self._rules.get(cause.code)

    def blocks(self, cause: KnownCause) -> bool:
        """Whether TensorFlow uses no GPU with this cause."""
        rule = self.rule(cause)
        return rule is not None and rule.blocks

    def seen(self, causes: Iterable[KnownCause]) -> dict[str, bool]:
        """Cause -> whether its rule finds it in the facts; rules that need a log or could not look are left out."""
        verdicts: dict[str, bool] = {}
        for cause in causes:
            rule = self.rule(cause)
            if rule is None or rule.log_only:
                continue
            outcome = self._run(rule)
            if outcome.status is Status.FOUND:
                verdicts[cause.name] = True
                self._diagnoses[cause.name] = outcome.diagnoses[0]
            elif self._on_machine and outcome.status in (Status.OK, Status.NOT_APPLICABLE):
                verdicts[cause.name] = False
        return verdicts

    def diagnosis(self, answer: Answer) -> Optional[Diagnosis]:
        """What the cause's own rule says: from the facts, or from the log where it reads logs."""
        rule = self.rule(answer.cause)
        if rule is None:
            return None
        if answer.cause.name in self._diagnoses:
            return self._diagnoses[answer.cause.name]
        if not any(kind is LogMatch for kind, _optional in rule.needs.values()):
            return None
        self._facts.put(LogMatch(answer.cause.name, answer.lines, answer.found[0].text, answer.values))
        outcome = self._run(rule)
        return outcome.diagnoses[0] if outcome.status is Status.FOUND else None

    def _run(self, rule: Rule) -> Outcome:
        outcome = run_rule(rule, self._facts)
        if outcome.status is Status.CRASHED:
            self.crashes.append(Crash(f"{rule.code} {rule.name}", outcome.reason))
        return outcome


def rules_of(codes: Iterable[str]) -> dict[str, Rule]:
    """Code -> rule, importing only the files of these codes."""
    files = rule_files()
    found: dict[str, Rule] = {}
    for code in codes:
        for thing in vars(importlib.import_module(files[code])).values() if code in files else ():
            if isinstance(thing, Rule):
                found[thing.code] = thing
    return found


@cache
def rule_files() -> Mapping[str, str]:
    """Code -> the module of its rule: a file is named after its code (tfd203_driver_too_old)."""
    from tfdoctor import rules

    names = (info.name for info in pkgutil.walk_packages(rules.__path__, rules.__name__ + "."))
    return {name.rpartition(".")[2].partition("_")[0].upper(): name for name in names if ".tfd" in name}


def _with_consequences(answers: tuple[Answer, ...], rules: Rules) -> list[Answer]:
    """A cause whose rule names another found cause as its own cause is a consequence, and comes after the causes."""
    causes = {a.cause.code for a in answers if a.role == "cause"}
    told = []
    for answer in answers:
        rule = rules.rule(answer.cause) if answer.role == "cause" else None
        follows = rule is not None and bool(set(rule.caused_by) & (causes - {answer.cause.code}))
        told.append(replace(answer, role="consequence") if follows else answer)
    order = {"cause": 0, "consequence": 1, "harmless": 2}
    return sorted(told, key=lambda a: order[a.role])


def _told(answer: Answer, rules: Rules, verdicts: Mapping[str, bool]) -> Explained:
    diagnosis = rules.diagnosis(answer)
    rule = rules.rule(answer.cause)
    denied = verdicts.get(answer.cause.name) is False
    return Explained(
        answer.cause.code,
        answer.cause.name,
        answer.role,
        answer.lines,
        answer.count,
        any(item.more for item in answer.found),
        _quotes(answer.found),
        _message(answer, diagnosis, rule, denied=denied),
        tuple(cause.name for cause in answer.alternatives),
        _(answer.decide_by) if answer.decide_by else "",
        diagnosis.fixes if diagnosis and diagnosis.fixes else _advice(rule, denied=denied),
    )


def _message(answer: Answer, diagnosis: Optional[Diagnosis], rule: Optional[Rule], *, denied: bool) -> str:
    """What the cause's rule says, or its title. `denied`: the machine was looked at and does not have this cause, so that
    nothing may be said of it as if it had."""
    if diagnosis is not None:
        return diagnosis.message
    if answer.cause.says is not None:
        return _(answer.cause.says)
    if denied:
        return _(
            "The log points to {name}, but what was seen of this machine does not show it: it held only when the log was "
            "written, or only for the program that wrote it."
        ).format(name=answer.cause.name)
    return rule.title if rule is not None else answer.cause.name


def _advice(rule: Optional[Rule], *, denied: bool) -> tuple[Fix, ...]:
    """What the page of a diagnosis says to do, where no rule could make commands for the machine."""
    advice = rule.section("What to do") if rule is not None else ""
    title = _("only if it is so where that program runs: see below") if denied else _("see below")
    return (Fix(title, safety=Safety.MANUAL, note=advice),) if advice else ()


def _quotes(found: Iterable[Found]) -> tuple[tuple[int, str], ...]:
    """The first occurrence of each message, in the log's order, one for a line."""
    first: dict[int, str] = {}
    for item in found:
        first.setdefault(item.lines[0], item.text)
    return tuple(sorted(first.items())[:QUOTES])
