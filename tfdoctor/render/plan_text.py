"""`fix --format text`: the plan, step by step."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from tfdoctor.fixes.activation import show
from tfdoctor.fixes.plan import Plan, Step
from tfdoctor.i18n import _
from tfdoctor.model import Safety


def render(plan: Plan) -> str:
    """The whole plan."""
    return "\n".join(_lines(plan)).rstrip("\n") + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    if not plan.steps:
        yield _("Nothing to do.") if not plan.open else _("Nothing that tfdoctor can do.")
    for number, step in enumerate(plan.steps, 1):
        yield from step_lines(step, f"{number}. ", plan.shell)
        yield ""
    for code, why in plan.open:
        yield _("{code} stays: {why}.").format(code=code, why=why.rstrip("."))


def step_lines(step: Step, number: str = "", shell: str = "posix") -> Iterator[str]:
    """One step: what, why, the command lines, what changes, what it needs, how it is undone."""
    words = {
        Safety.SAFE: _("safe"),
        Safety.ASK: _("after a question"),
        Safety.MANUAL: _("by hand; tfdoctor does not run it"),
    }
    yield f"{number}{step.title}  [{words[step.safety]}]"
    yield _("   why:      {why}").format(why=step.why)
    yield _("   removes:  {codes}").format(codes=", ".join(step.codes))
    for command in step.commands:
        yield "   $ " + shlex.join(command)
    for name, value in step.environment:
        yield "   $ " + show(name, value, shell)
    for label, text in details(step):
        yield f"   {label + ':':<9} {text}"


def details(step: Step) -> Iterator[tuple[str, str]]:
    """(label, text) of what is to be known of a step before it is done."""
    if step.changes:
        yield _("changes"), step.changes
    if step.download_mib is not None:
        yield _("download"), _("at most {mib} MiB").format(mib=step.download_mib)
    elif step.kind == "packages":
        yield _("download"), _("not known beforehand; the package index tells")
    if step.needs:
        yield _("needs"), ", ".join(sorted(step.needs))
    if step.undo:
        yield _("undo"), step.undo
    elif step.kind == "manual":
        yield _("undo"), _("none that tfdoctor could do: what is done by hand is taken back by hand")
    if step.note:
        yield _("note"), step.note
