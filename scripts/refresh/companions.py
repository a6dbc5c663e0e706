"""The rows of compat/companions.json: what each release of a companion says of the TensorFlow it needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Optional

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from remotezip import RemoteZip

from refresh import wheel
from refresh.index import Index, WheelFile, python_order

NAMES = (
    "tensorflow-addons", "tensorflow-compression", "tensorflow-decision-forests", "tensorflow-hub", "tensorflow-io",
    "tensorflow-io-gcs-filesystem", "tensorflow-model-optimization", "tensorflow-probability", "tensorflow-quantum",
    "tensorflow-ranking", "tensorflow-recommenders", "tensorflow-recommenders-addons", "tensorflow-serving-api",
    "tensorflow-text", "tensorflow-transform", "tf-agents", "tf-keras",
)  # fmt: skip
#: Older ones need TensorFlow 1.
_SINCE = "2019-10-01"
#: Extras that hold the TensorFlow a package was built for.
_EXTRAS = r'extra == "(tensorflow|reverb|extras)"'
_ALSO = ("keras", "tensorflow-probability", "tensorflow-text", "tf-keras")


def rows(index: Index, name: str, old: Mapping[str, Mapping[str, Any]], today: str) -> list[dict[str, Any]]:
    """The rows of one companion; ``old`` holds the committed ones by version, for their day."""
    found = []
    for version in index.versions(name):
        wheels = [w for w in index.wheels(name) if w.version == version]
        if (wheels[0].uploaded or _SINCE) >= _SINCE:
            row = _row(index, name, version, wheels)
            if row is not None:
                found.append({**row, "checked": old.get(version, {}).get("checked", today)})
    return found


def _row(index: Index, name: str, version: str, wheels: list[WheelFile]) -> Optional[dict[str, Any]]:
    facts = index.read(max(wheels, key=_rank), "companion", _facts)
    asked = [a for a in map(_requirement, facts["requires_dist"]) if a is not None]
    plain = [a for a in asked if "extra ==" not in str(a.marker or "")]
    also = sorted({str(canonicalize_name(a.name)) for a in plain} & set(_ALSO))
    how, tensorflow = _tensorflow(asked, plain, facts["import_check"])
    if not tensorflow and not also:
        return None
    return {
        "name": name,
        "version": version,
        "tensorflow": tensorflow,
        "how": how,
        "also_needs": also,
        "pythons": sorted({tag for w in wheels for tag in w.python.split(".")}, key=python_order),
        "source": f"METADATA of the {name} {version} wheel" + ("; its __init__.py" if how == "import check" else ""),
        "grade": "measured",
    }


def _tensorflow(asked: list[Requirement], plain: list[Requirement], check: Optional[str]) -> tuple[str, str]:
    """How the range is known, and the range; ("requires", "") when the package names no TensorFlow."""
    required = [a for a in plain if canonicalize_name(a.name) == "tensorflow" and a.specifier]
    if required:
        return "requires", _text(required[0])
    if check is not None:
        return "import check", f">={check}"
    optional = [a for a in asked if canonicalize_name(a.name) == "tensorflow" and a.specifier]
    named = [a for a in optional if re.search(_EXTRAS, str(a.marker or ""))]
    return ("extra", _text(named[0])) if named else ("requires", "")


def _text(asked: Requirement) -> str:
    return ",".join(sorted(str(part) for part in asked.specifier))


def _facts(archive: RemoteZip) -> dict[str, Any]:
    """Metadata, and the TensorFlow version that the package insists on when it is imported."""
    check = None
    for name in archive.namelist():
        if re.fullmatch(r"tensorflow_probability/(python/)?__init__\.py", name):
            found = re.search(r"required_tensorflow_version = '([^']+)'", archive.read(name).decode("utf-8"))
            check = found.group(1) if found else check
    return {**wheel.metadata(archive), "import_check": check}


def _requirement(text: str) -> Optional[Requirement]:
    try:
        return Requirement(text)
    except InvalidRequirement:
        return None


def _rank(wheel_file: WheelFile) -> tuple[bool, bool, str]:
    platform = wheel_file.platform
    return "linux" in platform and "x86_64" in platform, platform == "any", wheel_file.filename


def order(row: Mapping[str, Any]) -> tuple[str, Version]:
    """Rows are sorted by name, then version."""
    return row["name"], Version(row["version"])
