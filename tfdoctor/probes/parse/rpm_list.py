"""`rpm -qa` with a line `name version-release` for each package, as far as it was asked for."""

from __future__ import annotations

from typing import Optional

# Every system that RPM manages has one of these; without them the database is not the system's.
BASE = ("glibc", "musl", "filesystem")


def parse(text: str) -> Optional[dict[str, str]]:
    """Name -> version of the packages that matter; None for a database that does not describe the system."""
    rows = (line.split() for line in text.splitlines())
    found = {row[0]: row[1] for row in rows if len(row) == 2}
    if not any(name in found for name in BASE):
        return None
    return {name: version for name, version in found.items() if name not in BASE}
