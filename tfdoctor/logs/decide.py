"""From known messages and a situation to answers: root causes first, their consequences folded, harmless ones named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Optional

from tfdoctor.logs.matcher import Found
from tfdoctor.logs.situation import Situation, holds, speaks
from tfdoctor.tables.log_rows import KnownCause

#: Names in a list of alternatives, at most.
MOST_ALTERNATIVES = 5
#: What a look at the machine adds when a cause's own rule finds it, or takes when the rule sees that it is not so (less:
#: the log may be of yesterday). It never takes the last candidate.
SEEN_ON_MACHINE, NOT_ON_MACHINE = 60, -30
#: A second message that points to the same cause adds this part of its weight, up to the limit.
_FURTHER_PART, _FURTHER_MOST = 4, 20
#: Below this lead over the next candidate the answer says how to tell them apart with the message's own hint.
_CLEAR_LEAD = 40


@dataclass(frozen=True)
class Answer:
    """One thing that a log says. `role`: "cause", "consequence" or "harmless". `found` are the messages, those of folded
    consequences last; `alternatives` what else it can be, likeliest first; `decide_by` how to tell."""

    cause: KnownCause
    role: str
    score: int
    found: tuple[Found, ...]
    alternatives: tuple[KnownCause, ...]
    decide_by: str

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of its messages, in order (those that were kept)."""
        return tuple(sorted({line for item in self.found for line in item.lines}))

    @property
    def count(self) -> int:
        """How many lines have its messages; a line that several rows take counts once, as far as line numbers were kept."""
        twice = sum(len(set(item.lines)) for item in self.found) - len(set(self.lines))
        return sum(item.count for item in self.found) - twice

    @property
    def values(self) -> dict[str, str]:
        """What its messages name (a library, a version); of several values of one name the first message's."""
        values: dict[str, str] = {}
        for item in self.found:
            for name, value in item.values.items():
                values.setdefault(name, value)
        return values


def decide(
    found: Sequence[Found],
    situation: Situation,
    causes: Mapping[str, KnownCause],
    seen_on_machine: Mapping[str, bool],
) -> tuple[Answer, ...]:
    """The answers, best first. `seen_on_machine`: cause -> whether its rule found it, for the rules that could look."""
    ids = [item.row.id for item in found]
    shift = {
        name: (sum(speaks(clue, situation, ids) for clue in causes[name].clues), _machine(seen_on_machine.get(name)))
        for name in {m.cause for item in found for m in item.row.means}
    }
    left = [item for item in found if item.row.means]
    answers: list[Answer] = []
    while left:
        ranked = _ranked(left, shift)
        if not ranked:
            break
        mild = causes[ranked[0][0]].mild
        harmless = causes[ranked[0][0]].harmless or bool(mild and all(holds(c, situation, ids) for c in mild))
        answers.append(_answer(ranked, left, causes, harmless))
        explained = {id(item) for item in answers[-1].found}
        left = [item for item in left if id(item) not in explained]
    answers, folded = _without_aftermath(answers)
    mute = [item for item in found if item.row.role == "consequence" and not item.row.means]
    return _in_order(answers, [*mute, *folded, *(item for item in left if item.row.role == "consequence")])


def _without_aftermath(answers: list[Answer]) -> tuple[list[Answer], list[Found]]:
    """The answers without those that stand only on what follows from a fault, when a line before shows such a fault; and
    the messages of these."""
    faults = [min(item.lines[0] for item in a.found) for a in answers if a.role == "cause" and _direct(a)]
    first = min(faults, default=None)
    kept, folded = [], list[Found]()
    for answer in answers:
        if first is None or answer.role != "cause" or _direct(answer) or answer.lines[0] < first:
            kept.append(answer)
        else:
            folded.extend(answer.found)
    return kept, folded


def _machine(seen: Optional[bool]) -> int:
    """What a look at the machine adds to a cause's score; None: its rule could not look."""
    return 0 if seen is None else SEEN_ON_MACHINE if seen else NOT_ON_MACHINE


def _ranked(found: Iterable[Found], shift: Mapping[str, tuple[int, int]]) -> list[tuple[str, int]]:
    """(cause, score) with a score above zero, best first; equal scores in the order of the rows. `shift`: what clues
    and what the machine add."""
    weights: dict[str, list[int]] = {}
    for item in found:
        for meaning in item.row.means:
            weights.setdefault(meaning.cause, []).append(meaning.weight)
    scored = []
    for name, values in weights.items():
        further = min((sum(values) - max(values)) // _FURTHER_PART, _FURTHER_MOST)
        clues, machine = shift[name]
        told = max(values) + further + clues
        if told > 0:
            scored.append((name, max(told + machine, 1)))
    return sorted(scored, key=lambda pair: -pair[1])


def _answer(
    ranked: list[tuple[str, int]], left: Iterable[Found], causes: Mapping[str, KnownCause], harmless: bool
) -> Answer:
    """The best candidate, with the messages that it explains and the other causes that these can have."""
    name, score = ranked[0]
    mine = tuple(item for item in left if any(m.cause == name for m in item.row.means))
    possible = {m.cause for item in mine for m in item.row.means}
    others = [(other, points) for other, points in ranked[1:] if other in possible]
    alternatives = tuple(causes[other] for other, _points in others[:MOST_ALTERNATIVES])
    close = bool(others) and score - others[0][1] < _CLEAR_LEAD
    hint = next((item.row.decide_by for item in mine if item.row.decide_by), None) if close else None
    look = hint or causes[name].look or ""
    return Answer(causes[name], "harmless" if harmless else "cause", score, mine, alternatives, look)


def _in_order(answers: list[Answer], aftermath: list[Found]) -> tuple[Answer, ...]:
    """Causes before harmless ones; lines that only follow from a fault go to the first cause. What a harmless line can
    mean besides is told only where no cause was found."""
    order = sorted(answers, key=lambda a: (a.role == "harmless", not _direct(a), -a.score))
    if not order or order[0].role == "harmless":
        return tuple(order)
    first = replace(order[0], found=(*order[0].found, *aftermath))
    return (first, *(replace(a, alternatives=()) if a.role == "harmless" else a for a in order[1:]))


def _direct(answer: Answer) -> bool:
    """Some message points to the cause itself, not only to what follows from it."""
    return any(item.row.role == "cause" for item in answer.found)
