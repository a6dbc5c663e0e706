"""The engine supplies, skips, survives and folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import pytest

from tfdoctor import engine
from tfdoctor.engine import Facts, probe, rule, run_rule, run_rules
from tfdoctor.model import Diagnosis, NotApplicable, Severity, Status, Unavailable


@dataclass(frozen=True)
class Source:
    text: str


@dataclass(frozen=True)
class Seen:
    text: str


@dataclass(frozen=True)
class Hidden:
    text: str


@dataclass(frozen=True)
class Elsewhere:
    text: str


@dataclass(frozen=True)
class Broken:
    text: str


looks: list[str] = []


@probe
def seen(source: Source) -> Seen:
    looks.append("seen")
    return Seen(source.text)


@probe
def hidden(source: Source) -> Hidden:
    raise Unavailable("the door is shut")


@probe
def elsewhere(source: Source) -> Elsewhere:
    raise NotApplicable("this is not WSL")


@probe
def broken(source: Source) -> Broken:
    raise ValueError("bug")


def facts() -> Facts:
    looks.clear()
    return Facts([Source("x")], [seen, hidden, elsewhere, broken])


@rule("TFD101", Severity.ERROR)
def lower(fact: Seen):
    """Fault."""
    return Diagnosis(f"saw {fact.text}")


@rule("TFD102", Severity.ERROR, caused_by=("TFD101",))
def middle(fact: Seen):
    """Fault."""
    return [Diagnosis("one"), Diagnosis("two")]


@rule("TFD103", Severity.WARNING, caused_by=("TFD102",))
def upper(fact: Seen, other: Optional[Hidden]):
    """Fault."""
    return Diagnosis("also") if other is None else None


@rule("TFD104", Severity.ERROR)
def needs_hidden(fact: Hidden):
    """Fault."""


@rule("TFD105", Severity.ERROR)
def needs_elsewhere(fact: Elsewhere):
    """Fault."""


@rule("TFD106", Severity.ERROR)
def needs_broken(fact: Broken):
    """Fault."""


@rule("TFD107", Severity.ERROR, name="has-a-3.1-in-it")
def crashes(fact: Seen):
    """Fault."""
    raise KeyError("bug")


def test_a_rule_is_given_what_it_names_and_named_after_its_fault() -> None:
    outcome = run_rule(lower, facts())
    assert (outcome.status, outcome.diagnoses[0].message) == (Status.FOUND, "saw x")
    assert lower.name == "lower"
    assert crashes.name == "has-a-3.1-in-it"


def test_each_source_is_looked_at_once() -> None:
    run_rules([lower, middle, upper], facts())
    assert looks == ["seen"]


@pytest.mark.parametrize(
    ("sick", "status", "reason"),
    [
        (needs_hidden, Status.SKIPPED, "the door is shut"),
        (needs_elsewhere, Status.NOT_APPLICABLE, "this is not WSL"),
        (needs_broken, Status.SKIPPED, "tfdoctor's own probe for broken failed"),
        (crashes, Status.CRASHED, "KeyError: 'bug'"),
    ],
)
def test_what_cannot_be_had_is_told_and_stops_nothing(sick, status, reason) -> None:
    there = facts()
    outcomes = run_rules([sick, lower], there)
    by_rule = {o.rule.code: o for o in outcomes}
    assert (by_rule[sick.code].status, by_rule[sick.code].reason) == (status, reason)
    assert by_rule["TFD101"].status is Status.FOUND


def test_a_crashed_probe_is_a_result() -> None:
    there = facts()
    run_rule(needs_broken, there)
    assert [(c.what, c.error) for c in there.crashes] == [("probe broken", "ValueError: bug")]


def test_consequences_fold_under_the_root_and_not_under_each_other() -> None:
    outcomes = {o.rule.code: o for o in run_rules([upper, middle, lower], facts())}
    assert outcomes["TFD101"].folded_under is None
    assert outcomes["TFD102"].folded_under == "TFD101"
    assert outcomes["TFD103"].folded_under == "TFD101"


def test_without_its_cause_a_consequence_stands_by_itself() -> None:
    outcomes = {o.rule.code: o for o in run_rules([upper, middle], facts())}
    assert outcomes["TFD102"].folded_under is None
    assert outcomes["TFD103"].folded_under == "TFD102"


def test_a_stated_fact_takes_the_place_of_a_probe() -> None:
    there = facts()
    there.put(Hidden("told"))
    assert run_rule(needs_hidden, there).status is Status.OK


def test_every_probe_makes_one_fact_and_every_need_can_be_met() -> None:
    probes = engine.all_probes()
    made = {p.makes.__name__ for p in probes} | {"Host", "Tables", "LogMatch", "SmokeResults"}
    for needing in [*probes, *engine.all_rules()]:
        for wanted, _optional in needing.needs.values():
            assert wanted.__name__ in made, f"{needing} needs {wanted.__name__}, which nothing makes"
