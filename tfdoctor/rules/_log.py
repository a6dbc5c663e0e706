"""What rules that only a log can show have in common."""

from __future__ import annotations

from tfdoctor.i18n import _
from tfdoctor.model import Evidence, LogMatch


def line(log: LogMatch) -> Evidence:
    """The first line that shows the fault, by number: the text itself is printed, redacted, by `explain`."""
    number = log.lines[0] if log.lines else 0
    return Evidence(_("the log says so in line {number}").format(number=number), "log")


def value(log: LogMatch, name: str, otherwise: str) -> str:
    """What the pattern's group `name` took from the log, or `otherwise` when it took nothing."""
    return log.values.get(name) or otherwise
