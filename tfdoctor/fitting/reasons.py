"""The noun that comparisons return."""

from __future__ import annotations

import enum
from dataclasses import dataclass


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
