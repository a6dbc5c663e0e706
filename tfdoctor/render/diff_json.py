"""`diff --format json`: one object, schema 1."""

from __future__ import annotations

import json

from tfdoctor import __version__
from tfdoctor.comparison import Comparison

SCHEMA = 1


def render(names: tuple[str, str], found: Comparison) -> str:
    """The comparison as indented JSON."""
    a, b = found.verdicts
    content = {
        "schema": SCHEMA,
        "tfdoctor": __version__,
        "a": {"name": names[0], "verdict": a},
        "b": {"name": names[1], "verdict": b},
        "only_a": list(found.only_a),
        "only_b": list(found.only_b),
        "differences": [
            {"path": d.path, "a": d.a, "b": d.b, "matters": d.matters, "because": list(d.because)}
            for d in found.differences
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
