"""Running a rule over facts."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Optional

import tfdoctor.probes
from facts.base import tables
from tfdoctor import engine
from tfdoctor.model import Diagnosis, NotApplicable, Outcome, Rule, Status, Unavailable
from tfdoctor.tables import Tables


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
    """Run `rule` over the given facts. A crash of the rule fails the test."""
    outcome = engine.run_rule(rule, engine_facts(given, rests))
    assert outcome.status is not Status.CRASHED, outcome.reason
    return outcome


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
