"""What the open ranges of an extra resolve to on the index today: the newest wheel for Linux x86_64 in each range.

Each requirement by itself, as pip does when they do not constrain one another; the NVIDIA packages name each
other without ranges.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

import requests
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from refresh.index import Index, WheelFile


def resolved(index: Index, ranges: Mapping[str, str]) -> dict[str, Optional[WheelFile]]:
    """The wheel for each project; None where no wheel for Linux x86_64 is in the range."""
    return {project: _newest(index, project, asked) for project, asked in sorted(ranges.items())}


def _newest(index: Index, project: str, asked: str) -> Optional[WheelFile]:
    try:
        wheels = index.wheels(project)
    except requests.HTTPError:
        return None
    wanted = SpecifierSet(asked)
    fitting = [w for w in wheels if _installs(w) and wanted.contains(w.version)]
    return max(fitting, key=lambda wheel: Version(wheel.version), default=None)


def _installs(wheel: WheelFile) -> bool:
    return wheel.platform == "any" or ("linux" in wheel.platform and "x86_64" in wheel.platform)
