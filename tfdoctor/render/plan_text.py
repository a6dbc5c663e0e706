"""`fix --format text`: the plan, step by step."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from tfdoctor.fixes.plan import Plan, Step
from tfdoctor.i18n import _
from tfdoctor.model import Safety


def render(plan: Plan) -> str:
    """The whole plan."""
    return "\n".join(_lines(plan)) + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    if not plan.steps:
        yield _("Nothing to do.")
    for number, step in enumerate(plan.steps, 1):
        yield from step_lines(step, f"{number}. ")
        yield ""
    for code, why in plan.open:
        yield _("{code} stays: {why}").format(code=code, why=why)


def step_lines(step: Step, number: str = "") -> Iterator[str]:
    """One step: what, why, the command lines, what changes, what it needs, how it is undone."""
    words = {
        Safety.SAFE: _("safe"),
        Safety.ASK: _("after a question"),
        Safety.MANUAL: _("by hand; tfdoctor does not run it"),
    }
    yield f"{number}{step.title}  [{words[step.safety]}]"
    yield _("   why:      {why} ({codes})").format(why=step.why, codes=", ".join(step.codes))
    for command in step.commands:
        yield "   $ " + shlex.join(command)
    for name, value in step.environment:
        yield f"   $ unset {name}" if value is None else f"   $ export {name}={shlex.quote(value)}"
    for label, text in _details(step):
        yield f"   {label + ':':<9} {text}"


def _details(step: Step) -> Iterator[tuple[str, str]]:
    if step.changes:
        yield _("changes"), step.changes
    if step.download_mib:
        yield _("download"), _("at most {mib} MiB").format(mib=step.download_mib)
    if step.needs:
        yield _("needs"), ", ".join(sorted(step.needs))
    if step.undo:
        yield _("undo"), step.undo
    if step.note:
        yield _("note"), step.note
