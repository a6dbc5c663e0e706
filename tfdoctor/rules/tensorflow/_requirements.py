"""What TensorFlow's own metadata asks of another package: from the installed distribution, else from the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.tables import Tables, fits


@dataclass(frozen=True)
class Stated:
    """The ranges that may apply (several where a marker could not be judged), and who states them."""

    ranges: tuple[str, ...]
    source: str

    def allows(self, version: str) -> bool:
        """Whether one of the ranges holds `version`."""
        return any(fits(version, one) for one in self.ranges)

    @property
    def text(self) -> str:
        """The ranges for people: ">=1.26,<2.1"."""
        return " / ".join(dict.fromkeys(self.ranges)) or "any"


def stated(
    name: str,
    tensorflow: TensorFlow,
    tables: Tables,
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
) -> Optional[Stated]:
    """What the installed TensorFlow asks of `name`; None when it does not name it or nobody knows."""
    own = distributions.by_name.get(tensorflow.distribution) if distributions else None
    if own is not None and own.requires and distributions is not None:
        ranges = _from_metadata(own.requires, name, interpreter)
        return Stated(ranges, f"{tensorflow.distribution} {own.version} METADATA") if ranges else None
    release = tables.release(tensorflow.version)
    if release is None or release.version != tensorflow.version:
        return None
    rows = release.requirement(name)
    ranges = tuple(str(row.range) for row in rows if _applies(row.marker, interpreter))
    return Stated(ranges, release.source) if ranges else None


def _from_metadata(requires: tuple[str, ...], name: str, interpreter: Optional[Interpreter]) -> tuple[str, ...]:
    out = []
    for line in requires:
        try:
            entry = Requirement(line)
        except InvalidRequirement:
            continue
        same = entry.name.lower().replace("_", "-").replace(".", "-") == name
        if same and _applies(str(entry.marker or ""), interpreter):
            out.append(str(entry.specifier))
    return tuple(out)


def _applies(marker: str, interpreter: Optional[Interpreter]) -> bool:
    """Whether a marker holds for the target. One about an extra does not; one that cannot be judged may."""
    if not marker:
        return True
    if "extra" in marker:
        return False
    if interpreter is None:
        return True
    version = interpreter.version
    short = ".".join(version.split(".")[:2])
    try:
        return Marker(marker).evaluate({"python_version": short, "python_full_version": version})
    except (InvalidMarker, InvalidVersion):
        return True


def parsed(version: str) -> Optional[Version]:
    """A version, or None for text that is none."""
    try:
        return Version(version)
    except InvalidVersion:
        return None


def between(version: str, low: str, high: str) -> bool:
    """low <= version < high, counting pre-releases of `low` in ("2.18.0rc1" is in 2.18 to 2.19)."""
    return fits(version, f">={low}.dev0,<{high}.dev0")


def vendor_or_conda(tensorflow: TensorFlow, distributions: Optional[Distributions]) -> bool:
    """A build of somebody else (conda, NVIDIA's "+nv25.02"): what holds for the official wheel may not hold for it."""
    own = distributions.by_name.get(tensorflow.distribution) if distributions else None
    return "+" in tensorflow.version or (own is not None and own.installer == "conda")
