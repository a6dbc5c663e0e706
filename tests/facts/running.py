"""Running a rule over facts."""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, Optional, get_type_hints

import tfdoctor.probes
from facts.base import tables
from tfdoctor import engine
from tfdoctor.model import Diagnosis, NotApplicable, Outcome, Rule, Status, Unavailable
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.tables import Tables


@functools.cache
def fact_types() -> frozenset[type]:
    """Every fact that some rule needs or a probe module declares."""
    folder = Path(tfdoctor.probes.__path__[0])
    kinds: set[type] = {Tables}
    for path in sorted(folder.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                module = __import__(f"tfdoctor.probes.{path.stem}", fromlist=["x"])
                kinds.add(getattr(module, node.name))
    return frozenset(k for k in kinds if dataclasses.is_dataclass(k) or k is Tables)


def engine_facts(given: Iterable[Any], rests: Mapping[type, str] = {}) -> engine.Facts:
    """`given` with the tables; a fact in `rests` is not applicable, any other could not be looked at."""
    have = [tables(), *given]
    known = {type(g) for g in have}
    probes = [_absent(kind, rests.get(kind)) for kind in fact_types() if kind not in known]
    return engine.Facts(have, probes)


def _absent(kind: type, rest: Optional[str]) -> engine.Probe:
    def look() -> Any:
        raise NotApplicable(rest) if rest else Unavailable(f"this test does not give {kind.__name__}")

    return engine.Probe(kind, look, {})


def run(rule: Rule, *given: Any, rests: Mapping[type, str] = {}) -> Outcome:
    """Run `rule` over the given facts. A crash of the rule fails the test, also where less is told than here."""
    outcome = engine.run_rule(rule, engine_facts(given, rests))
    assert outcome.status is not Status.CRASHED, outcome.reason
    for gone, less in _less(rule, given):
        poorer = engine.run_rule(rule, engine_facts(less, rests))
        assert poorer.status is not Status.CRASHED, (f"without {gone}", poorer.reason)
    return outcome


def _less(rule: Rule, given: tuple[Any, ...]) -> Iterator[tuple[str, list[Any]]]:
    """`given` without one or two facts that `rule` can do without, and with one field of a fact or its GPUs not told."""
    spare = [kind for kind, optional in rule.needs.values() if optional and any(type(g) is kind for g in given)]
    for gone in (*combinations(spare, 1), *combinations(spare, 2)):
        yield " and ".join(kind.__name__ for kind in gone), [g for g in given if type(g) not in gone]
    needed = {kind for kind, _ in rule.needs.values()}
    for fact in given:
        if type(fact) in needed:
            for name, poorer in _untold(fact):
                yield name, [poorer if g is fact else g for g in given]


def _untold(fact: Any) -> Iterator[tuple[str, Any]]:
    """`fact` with one of its fields that can be None so; the same field in all GPUs, where it holds GPUs."""
    for name in _can_be_none(type(fact)):
        yield f"{type(fact).__name__}.{name}", dataclasses.replace(fact, **{name: None})
    if isinstance(fact, Gpus):
        for name in _can_be_none(Gpu):
            gpus = tuple(dataclasses.replace(gpu, **{name: None}) for gpu in fact)
            yield f"Gpu.{name}", dataclasses.replace(fact, gpus=gpus)


@functools.cache
def _can_be_none(kind: type) -> tuple[str, ...]:
    return tuple(name for name, hint in get_type_hints(kind).items() if type(None) in getattr(hint, "__args__", ()))


def found(rule: Rule, *given: Any, rests: Mapping[type, str] = {}) -> Diagnosis:
    """The one diagnosis that `rule` must make of the given facts."""
    outcome = run(rule, *given, rests=rests)
    assert outcome.status is Status.FOUND, (outcome.status, outcome.reason)
    assert len(outcome.diagnoses) == 1, outcome.diagnoses
    return outcome.diagnoses[0]


def silent(rule: Rule, *given: Any, rests: Mapping[type, str] = {}) -> bool:
    """Whether `rule` ran (or rested) and found nothing: False when it found something or lacked a fact."""
    outcome = run(rule, *given, rests=rests)
    return outcome.status in (Status.OK, Status.NOT_APPLICABLE)
