"""The rows of compat/nccl.json: the builds of NCCL on the index and the GPU code in their library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from remotezip import RemoteZip

from refresh.fatbin import scan
from refresh.index import Index, WheelFile, preferred

MAJORS = ("11", "12", "13")


def rows(index: Index, old: Mapping[tuple[str, str], Mapping[str, Any]], today: str) -> list[dict[str, Any]]:
    """One row per version and CUDA major version; ``old`` holds the committed ones, for their day."""
    found = []
    for major in MAJORS:
        project = f"nvidia-nccl-cu{major}"
        for version in index.versions(project):
            wheels = [w for w in index.wheels(project) if w.version == version]
            linux = [w for w in wheels if "x86_64" in w.platform and "linux" in w.platform]
            if linux:
                row = _row(index, preferred(linux), version, major)
                found.append({**row, "checked": old.get((version, major), {}).get("checked", today)})
    return found


def _row(index: Index, wheel: WheelFile, version: str, major: str) -> dict[str, Any]:
    code = index.read(wheel, "nccl", _code)
    isas = [isa for _, isa in code["ptx"]]
    return {
        "version": version,
        "cuda_major": major,
        "machine_code": [f"sm_{number}" for number in code["machine"]],
        "ptx": [f"compute_{number}" for number, _ in code["ptx"]],
        "ptx_isa": max(isas, key=_isa, default=None),
        "source": f"libnccl.so.2 in {wheel.filename}",
        "grade": "measured",
    }


def _code(archive: RemoteZip) -> dict[str, Any]:
    name: Optional[str] = next((n for n in archive.namelist() if n.endswith("/libnccl.so.2")), None)
    if name is None:
        return {"machine": [], "ptx": []}
    with archive.open(name) as member:
        found = scan(member)
    machine = sorted({number for numbers, _ in found for number in numbers})
    return {"machine": machine, "ptx": sorted({entry for _, entries in found for entry in entries})}


def _isa(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor)
