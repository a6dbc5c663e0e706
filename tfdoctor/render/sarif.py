"""`check --format sarif`: SARIF 2.1.0, for code-scanning views."""

from __future__ import annotations

import json
from typing import Any

from tfdoctor import __version__
from tfdoctor.i18n import _
from tfdoctor.model import Rule, Severity
from tfdoctor.render.view import Checked

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
PLACE = "pyproject.toml"  # where a project writes what it needs of a machine
REQUIREMENT = "requirement-not-met"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(checked: Checked) -> str:
    """One run. A machine has no source file, but code-scanning views show only results with a place in one: PLACE."""
    rules = list({o.rule.code: o.rule for o, _d, _s in checked.findings}.values())
    described = [_rule(r) for r in rules] + ([_requirement()] if checked.unmet else [])
    run = {
        "tool": {"driver": {"name": "tfdoctor", "version": __version__, "rules": described}},
        "results": [
            {
                "ruleId": outcome.rule.code,
                "ruleIndex": rules.index(outcome.rule),
                "level": LEVELS[severity],
                "message": {"text": diagnosis.message},
                "locations": [_location("machine")],
                "partialFingerprints": {"tfdoctor/v1": outcome.rule.code},
            }
            for outcome, diagnosis, severity in checked.findings
        ]
        + [_unmet(j.requirement.text, j.why) for j in checked.unmet],
        "properties": {"verdict": checked.report.verdict.gpu, "summary": checked.report.verdict.summary},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.replace(".", "-").split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.title},
        "help": {"text": rule.explanation, "markdown": rule.explanation},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
    }


def _unmet(text: str, why: str) -> dict[str, Any]:
    return {
        "ruleId": REQUIREMENT,
        "level": "error",
        "message": {"text": why},
        "locations": [_location(f"requirement {text}")],
        "partialFingerprints": {"tfdoctor/v1": text},
    }


def _location(what: str) -> dict[str, Any]:
    return {
        "physicalLocation": {"artifactLocation": {"uri": PLACE}, "region": {"startLine": 1}},
        "logicalLocations": [{"name": what, "kind": "resource"}],
    }


def _requirement() -> dict[str, Any]:
    text = _("A requirement on this machine does not hold.")
    return {
        "id": REQUIREMENT,
        "name": "RequirementNotMet",
        "shortDescription": {"text": text},
        "fullDescription": {"text": text},
        "defaultConfiguration": {"level": "error"},
    }
