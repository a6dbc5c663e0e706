"""The noun that comparisons return."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from tfdoctor.tables.rows import Row


class Says(enum.Enum):
    """What a comparison comes to.

    ``OPEN``: it may work, and the tables cannot promise it. ``NOTE`` says something worth knowing and decides
    nothing.
    """

    FITS = "fits"
    NOTE = "note"
    OPEN = "open"
    NO = "no"


@dataclass(frozen=True)
class Reason:
    """One comparison: its outcome, one sentence with both values, where the needed value is from.

    ``pins``: requirements that must be installed with the release for this to hold.
    """

    outcome: Says
    text: str
    source: str
    pins: tuple[str, ...] = ()


def against(row: Row, text: str) -> Reason:
    """What speaks against a release: a "no" where a document or measurement says so, open where it is second-hand."""
    return Reason(Says.NO if row.solid else Says.OPEN, text, row.source)
