"""`fix --format sh`: a script for set-up; what needs a person is a comment in it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from tfdoctor.fixes.plan import Plan, Step
from tfdoctor.i18n import _
from tfdoctor.model import Safety


def render(plan: Plan) -> str:
    """A bash script. Only `safe` steps run; all others are commented out."""
    lines = ["#!/usr/bin/env bash", _("# Made by `tfdoctor fix --dry-run --format sh`; read it before you run it.")]
    lines += ["set -euo pipefail", ""]
    for number, step in enumerate(plan.steps, 1):
        lines += [*_lines(number, step), ""]
    return "\n".join(lines)


def _lines(number: int, step: Step) -> Iterator[str]:
    yield f"# {number}. {_one_line(step.title)}"
    yield f"#    {_one_line(step.why)} ({', '.join(step.codes)})"
    runs = step.safety is Safety.SAFE
    if not runs:
        yield _("#    Needs a person: remove the # in front when you agree.")
    before = "" if runs else "# "
    for command in step.commands:
        yield before + shlex.join(command)
    for name, value in step.environment:
        yield before + (f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}")


def _one_line(text: str) -> str:
    return " ".join(text.split())
