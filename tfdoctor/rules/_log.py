"""What rules that only a log can show have in common."""

from __future__ import annotations

from tfdoctor.i18n import _
from tfdoctor.model import Evidence, LogMatch


def line(log: LogMatch) -> Evidence:
    """The first line that shows the fault, by number: the text itself is printed, redacted, by `explain`. What a smoke
    test showed has no line number and is told in its own words."""
    if not log.lines:
        return Evidence(log.text, "tfdoctor smoke")
    return Evidence(_("the log says so in line {number}").format(number=log.lines[0]), "log")


def value(log: LogMatch, name: str, otherwise: str) -> str:
    """What the pattern's group `name` took from the log, or `otherwise` when it took nothing."""
    return log.values.get(name) or otherwise
