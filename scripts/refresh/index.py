"""The package index that pip is configured for: what files a project has, and single members of its wheels."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import requests
from packaging.version import InvalidVersion, Version
from pypi_simple import PYPI_SIMPLE_ENDPOINT, DistributionPackage, PyPISimple
from remotezip import RemoteZip

#: Part of every cached file's name: raise it when what is read from a wheel changes.
READERS = 1
_WHEEL = re.compile(r"^.+?-[^-]+(?:-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl$")


def configured_index() -> str:
    """The index of pip's own configuration (environment, then files), else pip's default."""
    named = os.environ.get("PIP_INDEX_URL")
    if named:
        return named
    for section in ("install", "global"):
        asked = subprocess.run(
            [sys.executable, "-m", "pip", "config", "get", f"{section}.index-url"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        if asked.returncode == 0 and asked.stdout.strip():
            return asked.stdout.strip()
    return PYPI_SIMPLE_ENDPOINT


#: The platform of a source distribution.
SOURCE = "source"


@dataclass(frozen=True)
class WheelFile:
    """One wheel on the index, or a source distribution (``platform`` is then SOURCE)."""

    project: str
    version: str
    python: str
    platform: str
    filename: str
    url: str
    sha256: str
    uploaded: Optional[str]
    size: Optional[int]


class Index:
    """Reads through pip's index; what was read from a wheel is kept in ``cache`` under the wheel's hash."""

    def __init__(self, cache: Optional[Path]) -> None:
        self._cache = cache
        self._session = requests.Session()
        self._simple = PyPISimple(configured_index(), session=self._session)
        self._pages: dict[str, list[WheelFile]] = {}

    def reachable(self) -> bool:
        """Whether the index answers at all."""
        try:
            return bool(self.wheels("tensorflow"))
        except (requests.RequestException, OSError):
            return False

    def wheels(self, project: str) -> list[WheelFile]:
        """The wheels of a project that are not yanked, oldest version first."""
        return [file for file in self.files(project) if file.platform != SOURCE]

    def files(self, project: str) -> list[WheelFile]:
        """The wheels and source distributions of a project that are not yanked, oldest version first."""
        if project not in self._pages:
            page = self._simple.get_project_page(project, timeout=60)
            found = [_file(project, package) for package in page.packages if not package.is_yanked]
            files = [file for file in found if file is not None]
            self._pages[project] = sorted(files, key=lambda file: (Version(file.version), file.filename))
        return self._pages[project]

    def versions(self, project: str, prereleases: bool = False) -> list[str]:
        """The versions that have a wheel, oldest first."""
        kept = {w.version: None for w in self.wheels(project)}
        return [v for v in kept if prereleases or not Version(v).is_prerelease]

    def read(self, wheel: WheelFile, what: str, reader: Callable[[RemoteZip], Any]) -> Any:
        """``reader`` on the wheel, opened over HTTP ranges; the answer (JSON) is cached under ``what``."""
        place = None if self._cache is None else self._cache / f"{wheel.sha256}.{what}.{READERS}.json"
        if place is not None and place.exists():
            return json.loads(place.read_text(encoding="utf-8"))
        with RemoteZip(wheel.url, session=self._session, timeout=120) as archive:
            answer = reader(archive)
        if place is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(answer), encoding="utf-8")
        return answer


def _file(project: str, package: DistributionPackage) -> Optional[WheelFile]:
    tags = _WHEEL.match(package.filename)
    if package.version is None or (tags is None and package.package_type != "sdist"):
        return None
    try:
        Version(package.version)
    except InvalidVersion:
        return None
    uploaded = package.upload_time.date().isoformat() if package.upload_time else None
    return WheelFile(
        project,
        package.version,
        tags["python"] if tags else SOURCE,
        tags["platform"] if tags else SOURCE,
        package.filename,
        package.url,
        package.digests.get("sha256", package.filename),
        uploaded,
        package.size,
    )


def python_order(tag: str) -> tuple[int, str]:
    """Sort key that puts cp39 before cp310."""
    return len(tag), tag


def preferred(wheels: list[WheelFile]) -> WheelFile:
    """The wheel to read for all of a release's Pythons: CPython 3.11 where there is one, else the newest."""
    ordered = sorted(wheels, key=lambda wheel: (wheel.python == "cp311", python_order(wheel.python)))
    return ordered[-1]


def by_platform(wheels: list[WheelFile]) -> Iterator[tuple[str, list[WheelFile]]]:
    """The wheels of one release, grouped by platform tag."""
    tags = sorted({wheel.platform for wheel in wheels})
    return ((tag, [wheel for wheel in wheels if wheel.platform == tag]) for tag in tags)
