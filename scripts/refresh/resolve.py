"""What the open ranges of an extra resolve to on the index today: the newest file for Linux x86_64 in each range.

Each requirement by itself, as pip does when they do not constrain one another; the NVIDIA packages name each
other without ranges.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from pypi_simple import NoSuchProjectError

from refresh.index import SOURCE, Index, WheelFile


def resolved(index: Index, ranges: Mapping[str, str]) -> dict[str, Optional[WheelFile]]:
    """The file for each project; None where none that Linux x86_64 can install is in the range."""
    return {project: _newest(index, project, asked) for project, asked in sorted(ranges.items())}


def _newest(index: Index, project: str, asked: str) -> Optional[WheelFile]:
    try:
        files = index.files(project)
    except NoSuchProjectError:
        return None
    wanted = SpecifierSet(asked)
    fitting = [file for file in files if _installs(file) and wanted.contains(file.version)]
    return max(fitting, key=lambda file: (Version(file.version), file.platform != SOURCE), default=None)


def _installs(file: WheelFile) -> bool:
    return file.platform in ("any", SOURCE) or ("linux" in file.platform and "x86_64" in file.platform)
