"""For which Pythons TensorFlow has wheels, by the table."""

from __future__ import annotations

import re
from typing import Optional

from tfdoctor.probes.platform import Platform
from tfdoctor.tables import Tables
from tfdoctor.tables.tf_rows import TfRelease

#: platform.system of the facts -> system of the tables.
_SYSTEM = {"darwin": "macos"}


def tag(version: str) -> str:
    """ "cp311" of "3.11.9"; "" when it is not a version."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return f"cp{found.group(1)}{found.group(2)}" if found else ""


def number(python: str) -> tuple[int, int]:
    """(3, 11) of "cp311"."""
    return int(python[2]), int(python[3:])


def readable(python: str) -> str:
    """ "3.11" of "cp311"."""
    return "{}.{}".format(*number(python))


def pythons(release: TfRelease, platform: Optional[Platform]) -> tuple[str, ...]:
    """The Pythons ("cp311") with a wheel of a release here; of the Linux wheel where the platform is not known."""
    if platform is None:
        return release.pythons
    row = release.platform(_SYSTEM.get(platform.system, platform.system), platform.machine)
    return row.pythons if row is not None else ()


def every_python(tables: Tables, platform: Optional[Platform]) -> frozenset[str]:
    """Every Python for which some release has a wheel here. Empty: the tables know no wheel for this platform."""
    return frozenset(python for release in tables.releases() for python in pythons(release, platform))


def newest_for(python: str, tables: Tables, platform: Optional[Platform]) -> Optional[TfRelease]:
    """The newest release with a wheel for a Python here."""
    return next((release for release in tables.releases() if python in pythons(release, platform)), None)
