"""`fix --format json`: the plan as one object, schema 1."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Callable, Optional

from tfdoctor import __version__
from tfdoctor.fixes.plan import Plan, Step
from tfdoctor.render.plain import plain
from tfdoctor.scrub import Scrubber


def render(plan: Plan, scrub: Optional[Scrubber] = None) -> str:
    """The plan as indented JSON. Its sentences are scrubbed; what is done on this machine stays as it is."""
    clean = str if scrub is None else scrub.text
    steps = [{**plain(_sentences(s, clean)), "environment": dict(s.environment)} for s in plan.steps]
    content = {
        "schema": 1,
        "tfdoctor": __version__,
        "target": {"python": plan.target},
        "steps": steps,
        "open": [{"code": code, "why": clean(why)} for code, why in plan.open],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _sentences(step: Step, clean: Callable[[str], str]) -> Step:
    told = {name: clean(getattr(step, name)) for name in ("title", "why", "note")}
    return replace(step, **told)  # type: ignore[arg-type]  # all three are texts
