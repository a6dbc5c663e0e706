"""What the rows of all compatibility tables share; a dataclass in one of the *_rows modules is the schema of a file in compat/.

Every key of a row must be there and no other may be. ``Version`` and ``Range`` fields are checked when a
table is read: a range is a PEP 440 specifier set ("" means any version). Versions of drivers are kept as
printed ("470.82.01"). Compute capabilities are text ("8.6"), GPU code is "sm_86" or "compute_86". Link rates
are GB/s, memory is GB as the vendor prints it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

Version = NewType("Version", str)
Range = NewType("Range", str)
Grade = NewType("Grade", str)

#: official: the vendor's own document. measured: read from the artefact itself (wheel, header, library).
#: second-hand: somebody who cites the vendor; never enough for an error by itself.
GRADES = ("official", "measured", "second-hand")


@dataclass(frozen=True)
class Row:
    """What every row says about itself: where it is from, when that was looked at, how far to trust it."""

    source: str
    checked: str
    grade: Grade

    @property
    def solid(self) -> bool:
        """Whether the row may carry an error by itself: not when it is second-hand."""
        return self.grade != "second-hand"
