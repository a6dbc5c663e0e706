"""`fix --format sh`: a script for set-up; what needs a person is a comment in it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from tfdoctor.fixes.activation import show
from tfdoctor.fixes.plan import Plan, Step
from tfdoctor.i18n import _
from tfdoctor.model import Safety
from tfdoctor.render.plan_text import details


def render(plan: Plan) -> str:
    """A bash script. Only `safe` steps run; all others are commented out."""
    lines = ["#!/usr/bin/env bash", _("# Made by `tfdoctor fix --dry-run --format sh`; read it before you run it.")]
    lines += ["set -euo pipefail", ""]
    for number, step in enumerate(plan.steps, 1):
        lines += [*_lines(number, step), ""]
    if not plan.steps:
        lines += [_("# Nothing to do."), ""]
    lines += [_("# {code} stays: {why}").format(code=code, why=_one_line(why)) for code, why in plan.open]
    return "\n".join(lines).rstrip("\n") + "\n"


def _lines(number: int, step: Step) -> Iterator[str]:
    yield f"# {number}. {_one_line(step.title)}"
    yield _("#    why: {why}").format(why=_one_line(step.why))
    yield _("#    removes: {codes}").format(codes=", ".join(step.codes))
    for label, text in details(step):
        yield f"#    {label}: {_one_line(text)}"
    runs = step.safety is Safety.SAFE
    if not runs:
        yield _("#    Needs a person: remove the # in front when you agree.")
    before = "" if runs else "# "
    for command in step.commands:
        yield before + _one_line(shlex.join(command))
    for name, value in step.environment:
        yield before + _one_line(show(name, value, "posix"))


def _one_line(text: str) -> str:
    """No line end may turn a comment into a command."""
    return " ".join(text.split())
