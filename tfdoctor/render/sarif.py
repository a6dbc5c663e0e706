"""`check --format sarif`: SARIF 2.1.0, for code-scanning views."""

from __future__ import annotations

import json
from typing import Any

from tfdoctor import __version__
from tfdoctor.model import Rule, Severity
from tfdoctor.render.view import Checked

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(checked: Checked) -> str:
    """One run; the machine has no source file, so each result has a logical location."""
    rules = list({o.rule.code: o.rule for o, _d, _s in checked.findings}.values())
    run = {
        "tool": {"driver": {"name": "tfdoctor", "version": __version__, "rules": [_rule(r) for r in rules]}},
        "results": [
            {
                "ruleId": outcome.rule.code,
                "ruleIndex": rules.index(outcome.rule),
                "level": LEVELS[severity],
                "message": {"text": diagnosis.message},
                "locations": [{"logicalLocations": [{"name": "machine", "kind": "resource"}]}],
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
    location = {"logicalLocations": [{"name": f"requirement {text}", "kind": "resource"}]}
    return {"level": "error", "message": {"text": why}, "locations": [location]}
