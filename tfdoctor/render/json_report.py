"""`check --format json`: one object, schema 1 (see DESIGN: the command line)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, Optional

from tfdoctor import __version__
from tfdoctor.model import Diagnosis, Fix, Outcome, Report, Status
from tfdoctor.preflight.judge import Judgement
from tfdoctor.render.plain import plain
from tfdoctor.render.view import Checked
from tfdoctor.scrub import Scrubber

SCHEMA = 1


def render(checked: Checked) -> str:
    """The report as indented JSON text."""
    value = as_object(checked.report, checked.judgements, checked.scrub)
    return json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n"


def as_object(report: Report, judgements: Sequence[Judgement] = (), scrub: Optional[Scrubber] = None) -> dict[str, Any]:
    """The report in the shape of the published schema (`tfdoctor schema check`)."""
    return {
        "schema": SCHEMA,
        "tfdoctor": __version__,
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "target": {"python": report.target},
        "verdict": plain(report.verdict),
        "facts": _facts(report, scrub),
        "diagnoses": [_diagnosis(o, d) for o in report.found for d in o.diagnoses],
        "requirements": [
            {"text": j.requirement.text, "state": j.state, "have": j.have, "why": j.why} for j in judgements
        ],
        "skipped": [
            {"code": o.rule.code, "name": o.rule.name, "reason": o.reason}
            for o in report.outcomes
            if o.status is Status.SKIPPED
        ],
        "crashed": plain(report.crashes),
    }


def _facts(report: Report, scrub: Optional[Scrubber]) -> dict[str, Any]:
    """What was seen; {"not_applicable": why} for what does not arise, {"unavailable": why} for what nobody could look at."""
    seen: dict[str, Any] = plain(report.facts)
    if scrub is not None:
        seen = {name: scrub.value(fact) for name, fact in seen.items()}
    for name, why in sorted(report.missing.items()):
        seen[name] = {"not_applicable" if name in report.resting else "unavailable": why}
    return seen


def _diagnosis(outcome: Outcome, diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "code": outcome.rule.code,
        "name": outcome.rule.name,
        "severity": str(diagnosis.severity or outcome.rule.severity),
        "message": diagnosis.message,
        "gpus": list(diagnosis.gpus),
        "evidence": plain(diagnosis.evidence),
        "caused_by": list(outcome.rule.caused_by),
        "folded_under": outcome.folded_under,
        "fixes": [fix_object(f) for f in diagnosis.fixes],
    }


def fix_object(fix: Fix) -> dict[str, Any]:
    """One fix: title, commands (argument lists), safety, note, and what it needs."""
    return {
        "title": fix.title,
        "commands": plain(fix.commands),
        "safety": fix.safety.value,
        "note": fix.note,
        "environment": dict(fix.environment),
        "needs": sorted(fix.needs),
    }
