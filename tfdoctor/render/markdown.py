"""`check --format markdown`: for a step summary, an issue or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Optional

from tfdoctor import __version__
from tfdoctor.i18n import _
from tfdoctor.model import Fix
from tfdoctor.render.shell import shell_lines, shell_of
from tfdoctor.render.view import Checked
from tfdoctor.scrub import Scrubber

WORDS = {"yes": _("yes"), "no": _("no"), "unknown": _("unknown")}


def render(checked: Checked) -> str:
    """Verdict, requirements as a table, diagnoses with what to do."""
    return "\n".join(_lines(checked)) + "\n"


def _lines(checked: Checked) -> Iterator[str]:
    verdict = checked.report.verdict
    yield _("## Will TensorFlow use the GPUs: {word}").format(word=WORDS[verdict.gpu])
    yield ""
    yield escape(verdict.summary)
    yield ""
    if checked.judgements:
        yield _("| requirement | state | here |")
        yield "|---|---|---|"
        for judgement in checked.judgements:
            yield f"| {escape(judgement.requirement.text)} | {judgement.state} | {escape(judgement.have)} |"
        yield ""
    for outcome, diagnosis, severity in checked.findings:
        folded = _(", a consequence of {code}").format(code=outcome.folded_under) if outcome.folded_under else ""
        yield f"### {severity}: {outcome.rule.code} {outcome.rule.name}{folded}"
        yield ""
        yield escape(diagnosis.message)
        yield ""
        if not outcome.folded_under:
            for fix in diagnosis.fixes:
                yield from _fix(fix, shell_of(checked.report), checked.scrub)
    yield _("tfdoctor {version}").format(version=__version__)


def _fix(fix: Fix, shell: str, scrub: Optional[Scrubber]) -> Iterator[str]:
    yield f"- {escape(fix.title)}"
    lines = "\n".join(shell_lines(fix, shell))
    text = lines if scrub is None else scrub.text(lines)
    if text:
        fence = fence_for(text)
        yield f"  {fence}"
        yield from ("  " + line for line in text.splitlines())
        yield f"  {fence}"
    yield ""


def fence_for(text: str) -> str:
    """A fence that no line of `text` can close."""
    longest = max((len(ticks) for ticks in re.findall(r"`+", text)), default=0)
    return "`" * max(3, longest + 1)


def escape(text: str) -> str:
    """`text` as it reads, whatever Markdown it looks like; on one line."""
    out = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    for mark in "\\`*_[]<>|~&$":
        out = out.replace(mark, "\\" + mark)
    out = re.sub(r"^(\d{1,9})([.)])(?=\s|$)", r"\1\\\2", out)  # the beginning of a numbered list
    return re.sub(r"^([-+=#])", r"\\\1", out)  # … of another list, of a heading, what underlines one
