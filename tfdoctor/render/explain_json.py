"""`explain --format json`: one object, schema 1 (see DESIGN: the command line)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Optional

from tfdoctor.known_errors import Explained, Explanation
from tfdoctor.logs.codes import CodePage
from tfdoctor.logs.redact import redact
from tfdoctor.pages import Page
from tfdoctor.render.explain_text import nothing_known
from tfdoctor.render.json_report import fix_object
from tfdoctor.render.plain import plain
from tfdoctor.scrub import Scrubber

SCHEMA = 1


def render_logs(logs: Sequence[tuple[str, Explanation]], scrub: Scrubber) -> str:
    """The answer for one log; for several a list of them, each with its name."""
    objects = [_log(name, explanation, scrub, named=len(logs) > 1) for name, explanation in logs]
    return _text(objects[0] if len(objects) == 1 else {"schema": SCHEMA, "logs": objects})


def render_pages(pages: Iterable[Page], codes: Iterable[CodePage]) -> str:
    """The pages of diagnoses, and what error codes mean."""
    return _text(
        {
            "schema": SCHEMA,
            "pages": [
                {
                    "code": p.code,
                    "name": p.name,
                    "severity": p.severity,
                    "title": p.title,
                    "explanation": p.text,
                    "formerly": list(p.formerly),
                }
                for p in pages
            ],
            "codes": plain(tuple(codes)),
        }
    )


def _log(name: str, explanation: Explanation, scrub: Scrubber, *, named: bool) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **({"log": name} if named else {}),
        "lines": explanation.lines,
        "diagnoses": [_diagnosis(answer, scrub) for answer in explanation.answers],
        "unknown_errors": [{"line": line, "text": redact(text, scrub)} for line, text in explanation.odd],
        "codes": plain(explanation.codes),
        "situation": {name: redact(value, scrub) for name, value in sorted(explanation.situation.items())},
        "remark": _remark(explanation),
        "crashed": plain(explanation.crashes),
    }


def _remark(explanation: Explanation) -> Optional[str]:
    """What is to be known of the whole answer: the machine's facts were left out, or nothing is known in this log."""
    nothing = "" if explanation.answers else nothing_known(explanation)
    return " ".join(filter(None, (explanation.remark, nothing))) or None


def _diagnosis(answer: Explained, scrub: Scrubber) -> dict[str, Any]:
    return {
        "code": answer.code,
        "name": answer.name,
        "role": answer.role,
        "lines": list(answer.lines),
        "count": answer.count,
        "message": redact(answer.message, scrub),
        "quotes": [{"line": line, "text": redact(text, scrub)} for line, text in answer.quotes],
        "alternatives": list(answer.alternatives),
        "decide_by": answer.decide_by,
        "fixes": [fix_object(fix) for fix in answer.fixes],
    }


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
