"""First and last toolkit of each compute capability, from the machine code that the ptxas in NVIDIA's wheels can make.

Toolkits before the oldest wheel are in no wheel: what came earlier stays as a person entered it.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from packaging.version import Version
from remotezip import RemoteZip

from refresh.index import Index

PROJECTS = ("nvidia-cuda-nvcc-cu11", "nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvcc")


def rows(index: Index, old: list[dict[str, Any]], today: str) -> list[dict[str, Any]]:
    """The committed rows with what the wheels say; a capability without a row is told on standard error."""
    by_toolkit = known(index)
    toolkits = sorted(by_toolkit, key=Version)
    for capability in sorted({c for listed in by_toolkit.values() for c in listed} - _of(old), key=Version):
        print(f"compute_capabilities.json has no row for {capability}, which ptxas knows", file=sys.stderr)
    return [_row(row, [t for t in toolkits if row["compute_capability"] in by_toolkit[t]], toolkits) for row in old]


def _of(rows: list[dict[str, Any]]) -> set[str]:
    return {row["compute_capability"] for row in rows}


def _row(row: dict[str, Any], among: list[str], toolkits: list[str]) -> dict[str, Any]:
    """``among``: the toolkits of the wheels that know it."""
    if not among:
        return row
    first = row["first_cuda"] if among[0] == toolkits[0] else among[0]
    return {**row, "first_cuda": first, "last_cuda": None if among[-1] == toolkits[-1] else among[-1]}


def known(index: Index) -> dict[str, set[str]]:
    """Toolkit ("12.8") -> the compute capabilities that the newest ptxas of that minor release knows."""
    newest = {}
    for project in PROJECTS:
        for wheel in index.wheels(project):
            if "linux" in wheel.platform and "x86_64" in wheel.platform and not Version(wheel.version).is_prerelease:
                newest[".".join(wheel.version.split(".")[:2])] = wheel
    return {toolkit: set(index.read(wheel, "ptxas", _capabilities)) for toolkit, wheel in newest.items()}


def _capabilities(archive: RemoteZip) -> list[str]:
    name = next(name for name in archive.namelist() if name.endswith("/bin/ptxas"))
    return capabilities(archive.read(name))


def capabilities(program: bytes) -> list[str]:
    """ "8.6" for "lto_86" among the texts of a program (the names of retired architectures stay as sm_ and compute_ alone).

    "lto_90a" is 9.0 too.
    """
    numbers = {int(number) for number in re.findall(rb"lto_(\d{2,3})[af]?\0", program)}
    return [f"{number // 10}.{number % 10}" for number in sorted(numbers)]
