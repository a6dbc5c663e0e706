"""`fix --format json`: the plan as one object, schema 1."""

from __future__ import annotations

import json

from tfdoctor import __version__
from tfdoctor.fixes.plan import Plan
from tfdoctor.render.plain import plain


def render(plan: Plan) -> str:
    """The plan as indented JSON."""
    steps = [{**plain(s), "environment": dict(s.environment)} for s in plan.steps]
    content = {
        "schema": 1,
        "tfdoctor": __version__,
        "target": {"python": plan.target},
        "steps": steps,
        "open": [{"code": code, "why": why} for code, why in plan.open],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
