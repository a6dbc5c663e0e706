"""Supplies each probe and rule with the facts that its parameters name, and keeps what came of it.

A probe is a function whose return annotation is the fact it makes; a rule is a function that returns what it
found. Both name what they need by the types of their parameters: a fact, `Host`, `Tables`, or `Optional[Fact]`
where they can do without. A need that could not be looked at skips the rule with that reason.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Callable, Optional, TypeVar, Union, get_args, get_origin, get_type_hints

from tfdoctor.model import (
    BadInput,
    Crash,
    Diagnosis,
    Found,
    LogMatch,
    NotApplicable,
    Outcome,
    Rule,
    Severity,
    Status,
    Unavailable,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Probe:
    """A function that looks at one source and returns a fact of type `makes`."""

    makes: type
    look: Callable[..., Any]
    needs: Mapping[str, tuple[type, bool]]


def probe(look: Callable[..., Any]) -> Probe:
    """Declare `look` a probe. Its return annotation is the key under which rules ask for the fact."""
    return Probe(get_type_hints(look)["return"], look, _needs(look))


def rule(
    code: str, severity: Severity, *, caused_by: Iterable[str] = (), blocks: bool = False, name: str = ""
) -> Callable[[Callable[..., Found]], Rule]:
    """Declare a function the rule `code`; its name, with hyphens, is the diagnosis's name unless `name` gives one.

    `blocks=True`: with this fault TensorFlow uses no GPU at all.
    """

    def declare(check: Callable[..., Found]) -> Rule:
        known_as = name or check.__name__.replace("_", "-")
        return Rule(code, known_as, severity, tuple(caused_by), blocks, check, _needs(check))

    return declare


def _needs(function: Callable[..., Any]) -> dict[str, tuple[type, bool]]:
    """Parameter -> (the fact that it is annotated with, can do without?)."""
    return {name: _wanted(hint) for name, hint in _hints(function).items() if name != "return"}


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Parameter -> its annotation, a type or Optional[type].

    In this package annotations are texts (`from __future__ import annotations`) and plain names; looking a name up is
    twenty times faster than typing.get_type_hints, which matters for 170 rules. Anything else goes there.
    """
    names = function.__globals__
    try:
        return {
            parameter: Optional[names[text[9:-1]]] if text.startswith("Optional[") else names[text]
            for parameter, text in function.__annotations__.items()
            if parameter != "return"
        }
    except (KeyError, AttributeError):
        return get_type_hints(function)


def _wanted(hint: Any) -> tuple[type, bool]:
    """`Optional[X]` -> (X, True), `X` -> (X, False)."""
    optional = get_origin(hint) is Union and type(None) in get_args(hint)
    return (next(a for a in get_args(hint) if a is not type(None)) if optional else hint), optional


def discover(package: types.ModuleType, kind: type[T]) -> list[T]:
    """Every object of type `kind` that a module below `package` defines, in order of module name."""
    found: dict[int, T] = {}
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        module = importlib.import_module(info.name)
        for thing in vars(module).values():
            if isinstance(thing, kind):
                found.setdefault(id(thing), thing)
    return list(found.values())


def all_probes() -> list[Probe]:
    """Every probe below tfdoctor/probes. Two that make the same fact are an error."""
    from tfdoctor import probes

    found = discover(probes, Probe)
    makers = [p.makes for p in found]
    twice = {m.__name__ for m in makers if makers.count(m) > 1}
    if twice:
        raise ValueError(f"more than one probe makes {', '.join(sorted(twice))}")
    return found


def all_rules() -> list[Rule]:
    """Every rule below tfdoctor/rules, by code."""
    from tfdoctor import rules

    return sorted(discover(rules, Rule), key=lambda r: r.code)


class Facts:
    """The facts of one host, each looked at once and only when somebody needs it."""

    def __init__(self, given: Iterable[Any], probes: Iterable[Probe]) -> None:
        self._probes = {p.makes: p for p in probes}
        self._have: dict[type, Any] = {type(g): g for g in given}
        self._lacking: dict[type, Exception] = {}
        self.crashes: list[Crash] = []

    def supply(self, needs: Mapping[str, tuple[type, bool]]) -> dict[str, Any]:
        """The keyword arguments for `needs`. Raises Unavailable or NotApplicable for one that cannot be had."""
        out: dict[str, Any] = {}
        for name, (kind, optional) in needs.items():
            try:
                out[name] = self.get(kind)
            except (Unavailable, NotApplicable):
                if not optional:
                    raise
                out[name] = None
        return out

    def get(self, kind: type[T]) -> T:
        """The fact of type `kind`. Raises Unavailable (could not look) or NotApplicable."""
        if kind not in self._have and kind not in self._lacking:
            self._look(kind)
        if kind in self._lacking:
            raise self._lacking[kind]
        return self._have[kind]  # type: ignore[no-any-return]

    def put(self, fact: Any) -> None:
        """Use `fact` instead of what a probe would find (a log or a person states it)."""
        self._lacking.pop(type(fact), None)
        self._have[type(fact)] = fact

    def _look(self, kind: type) -> None:
        subclass = next((k for k in self._have if issubclass(k, kind)), None)
        if subclass is not None:  # a LiveHost answers for Host
            self._have[kind] = self._have[subclass]
            return
        maker = self._probes.get(kind)
        if maker is None and kind is LogMatch:  # stated by whoever reads a log; no probe makes one
            self._lacking[kind] = NotApplicable("no log was given")
            return
        if maker is None:
            raise LookupError(f"no probe makes {kind.__name__}")
        try:
            self._have[kind] = maker.look(**self.supply(maker.needs))
        except (Unavailable, NotApplicable) as why:
            self._lacking[kind] = why
        except BadInput:
            raise
        except Exception as error:  # noqa: BLE001  a crashed probe is a result: its dependents cannot look
            name = fact_name(kind)
            self.crashes.append(Crash(f"probe {name}", f"{type(error).__name__}: {error}"))
            self._lacking[kind] = Unavailable(f"tfdoctor's own probe for {name} failed")

    def look_at_all(self) -> None:
        """Run every probe, so that a report or a recording shows what can be seen."""
        for kind in self._probes:
            if kind not in self._have and kind not in self._lacking:
                self._look(kind)

    def seen(self) -> dict[str, Any]:
        """Fact name -> fact, for those that a probe makes or somebody stated."""
        return {fact_name(k): v for k, v in self._have.items() if k in self._probes}

    def missing(self) -> dict[str, str]:
        """Fact name -> why there is none, for those that a probe makes."""
        return {fact_name(k): str(e) for k, e in self._lacking.items() if k in self._probes}

    def resting(self) -> frozenset[str]:
        """The names in `missing` that do not arise here; the others could not be looked at."""
        return frozenset(self.missing()) & {
            fact_name(k) for k, e in self._lacking.items() if isinstance(e, NotApplicable)
        }


def fact_name(kind: type) -> str:
    """`DriverLibrary` -> `driver_library`: the key in JSON."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def run_rule(rule: Rule, facts: Facts) -> Outcome:
    """Run one rule. It can be skipped or crash; it cannot stop the others."""
    try:
        arguments = facts.supply(rule.needs)
    except Unavailable as why:
        return Outcome(rule, Status.SKIPPED, reason=str(why))
    except NotApplicable as why:
        return Outcome(rule, Status.NOT_APPLICABLE, reason=str(why))
    try:
        found = _as_tuple(rule.check(**arguments))
    except Unavailable as why:
        return Outcome(rule, Status.SKIPPED, reason=str(why))
    except NotApplicable as why:
        return Outcome(rule, Status.NOT_APPLICABLE, reason=str(why))
    except BadInput:
        raise
    except Exception as error:  # noqa: BLE001  a crashed rule is a result
        return Outcome(rule, Status.CRASHED, reason=f"{type(error).__name__}: {error}")
    return Outcome(rule, Status.FOUND if found else Status.OK, found)


def _as_tuple(found: Found) -> tuple[Diagnosis, ...]:
    if found is None:
        return ()
    return (found,) if isinstance(found, Diagnosis) else tuple(found)


def run_rules(rules: Iterable[Rule], facts: Facts) -> tuple[Outcome, ...]:
    """Run the rules from the bottom layer up and fold each consequence under its root cause."""
    return fold(run_rule(r, facts) for r in rules)


def fold(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """The outcomes by code, each consequence folded under its root cause."""
    return tuple(_folded(sorted(outcomes, key=lambda o: o.rule.code)))


def _folded(outcomes: list[Outcome]) -> Iterator[Outcome]:
    """`caused_by` names only lower codes (a test guards it), so a cause's own fold is known before its consequence's."""
    roots: dict[str, str] = {}
    for outcome in outcomes:
        if outcome.status is not Status.FOUND:
            yield outcome
            continue
        cause: Optional[str] = next((roots[c] for c in outcome.rule.caused_by if c in roots), None)
        roots[outcome.rule.code] = cause or outcome.rule.code
        yield replace(outcome, folded_under=cause)
