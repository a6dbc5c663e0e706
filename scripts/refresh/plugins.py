"""The rows of compat/plugins.json and the first and last versions in compat/distributions.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from refresh import wheel
from refresh.index import Index, WheelFile, preferred, python_order

#: name -> whether development releases count (it has no others).
NAMES = {
    "intel-extension-for-tensorflow": False,
    "tensorflow-directml-plugin": True,
    "tensorflow-macos": False,
    "tensorflow-metal": False,
    "tensorflow-rocm": False,
}


def rows(index: Index, name: str, old: Mapping[str, Mapping[str, Any]], today: str) -> list[dict[str, Any]]:
    """The rows of one plug-in. A committed row that is not "measured" keeps what a person wrote of TensorFlow."""
    found = []
    for version in index.versions(name, prereleases=NAMES[name]):
        if name != "tensorflow-rocm" or Version(version) >= Version("2.0"):
            wheels = [w for w in index.wheels(name) if w.version == version]
            found.append(_row(index, name, version, wheels, old.get(version), today))
    return found


def _row(
    index: Index, name: str, version: str, wheels: list[WheelFile], old: Optional[Mapping[str, Any]], today: str
) -> dict[str, Any]:
    measured = {
        "name": name,
        "version": version,
        "tensorflow": _tensorflow(index, name, version, wheels),
        "pythons": sorted({w.python for w in wheels}, key=python_order),
        "systems": sorted({_system(w) for w in wheels}),
        "note": (old or {}).get("note", ""),
        "source": f"METADATA of the {name} {version} wheel",
        "grade": "measured",
        "checked": (old or {}).get("checked", today),
    }
    if old is not None and old["grade"] != "measured":
        measured.update({column: old[column] for column in ("tensorflow", "source", "grade")})
    return measured


def _tensorflow(index: Index, name: str, version: str, wheels: list[WheelFile]) -> str:
    """The range that the metadata states; the ROCm and Apple builds are a TensorFlow themselves."""
    if name == "tensorflow-rocm":
        return f"=={'.'.join(version.split('.')[:2])}.*"
    if name == "tensorflow-macos":
        return f"=={version}"
    asked = [Requirement(text) for text in index.read(preferred(wheels), "metadata", wheel.metadata)["requires_dist"]]
    named = [a for a in asked if canonicalize_name(a.name) in ("tensorflow", "tensorflow-cpu")]
    plain = [a for a in named if "extra ==" not in str(a.marker or "")]
    return ",".join(sorted(_whole(str(part)) for part in plain[0].specifier)) if plain else ""


def _whole(part: str) -> str:
    """ "==2.13" is meant as 2.13.*: there is no TensorFlow that is called 2.13 alone."""
    return f"{part}.*" if part.startswith("==") and part.count(".") == 1 else part


def _system(file: WheelFile) -> str:
    if file.platform.startswith("win"):
        return "windows"
    return "macos" if "macosx" in file.platform else "linux"


def distributions(index: Index, old: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The committed rows with the last version on the index; everything else in them a person wrote."""
    found = []
    for row in old:
        versions = list(dict.fromkeys(file.version for file in index.files(row["name"])))
        final = [version for version in versions if not Version(version).is_prerelease]
        found.append({**row, "last": (final or versions or [row["last"]])[-1]})
    return found
