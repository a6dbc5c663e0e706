"""The column machine_code of compat/cudnn.json: the GPU code in the newest wheel of each row's range."""

from __future__ import annotations

import re
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from remotezip import RemoteZip

from refresh.fatbin import scan
from refresh.index import Index

#: The CUDA major versions for which there are wheels.
MAJORS = ("11", "12", "13")
#: The library of the simple operations: every GPU that cuDNN supports needs it. Its name up to 8, and from 9 on.
_LIBRARY = re.compile(r"libcudnn_ops(_infer\.so\.8|\.so\.\d+)")


def rows(index: Index, old: list[dict[str, Any]], today: str) -> list[dict[str, Any]]:
    """The committed rows; those whose range holds a wheel get the code in the newest."""
    return [_row(index, row) if row["cuda_major"] in MAJORS else row for row in old]


def _row(index: Index, row: dict[str, Any]) -> dict[str, Any]:
    asked = SpecifierSet(row["versions"])
    wheels = [
        wheel
        for wheel in index.wheels(f"nvidia-cudnn-cu{row['cuda_major']}")
        if "linux" in wheel.platform and "x86_64" in wheel.platform
        if asked.contains(wheel.version) and not Version(wheel.version).is_prerelease
    ]
    if not wheels:
        return row
    read = index.read(wheels[-1], "cudnn", _code)
    document = row["source"].partition("; GPU code: ")[0]
    source = f"{document}; GPU code: {read['library']} in {wheels[-1].filename}"
    return {**row, "machine_code": read["code"], "source": source}


def _code(archive: RemoteZip) -> dict[str, Any]:
    """The name of the library and its code: ["sm_75", …, "compute_120"]."""
    name = next(name for name in archive.namelist() if _LIBRARY.fullmatch(name.rpartition("/")[2]))
    with archive.open(name) as member:
        found = scan(member)
    machine = sorted({number for numbers, _ in found for number in numbers})
    ptx = sorted({number for _, entries in found for number, _ in entries})
    code = [*(f"sm_{number}" for number in machine), *(f"compute_{number}" for number in ptx)]
    return {"library": name.rpartition("/")[2], "code": code}
