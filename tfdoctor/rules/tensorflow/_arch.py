"""Which code of a TensorFlow build a GPU can run: pure arithmetic over compute capabilities.

NVIDIA's rules: machine code runs on the same major version with an equal or higher minor one (sm_80 on 8.6); PTX is
compiled by the driver for every equal or newer version (compute_80 on 9.0).
https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#building-for-maximum-compatibility
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from typing import Optional

from packaging.version import InvalidVersion, Version

from tfdoctor.tables import Tables


class Fit(enum.Enum):
    """How a GPU can use a build."""

    BINARY = "machine code of the same major version"
    PTX = "only PTX, which the driver compiles"
    BELOW = "older than everything in the build"
    GAP = "neither machine code nor PTX, although the build holds code for older GPUs"


def pair(capability: str) -> tuple[int, int]:
    """(8, 6) of "8.6", "sm_86" or "compute_86"; (12, 0) of "sm_120a"."""
    text = capability.rpartition("_")[2].rstrip("af")
    major, dot, minor = text.partition(".")
    if dot:
        return int(major), int(minor or 0)
    return int(text[:-1] or 0), int(text[-1])


def text(capability: str) -> str:
    """ "8.6" of "sm_86"."""
    return "{}.{}".format(*pair(capability))


def readable(capabilities: Iterable[str]) -> tuple[str, ...]:
    """The entries that are sm_NN or compute_NN; a ROCm build lists gfx targets."""
    return tuple(entry for entry in capabilities if re.fullmatch(r"(sm|compute)_[0-9]{2,3}[af]?", entry))


def lowest(capabilities: Iterable[str]) -> str:
    """The lowest entry, as "6.0"."""
    return text(min(readable(capabilities), key=pair))


def highest(capabilities: Iterable[str]) -> str:
    """The highest entry, as "9.0"."""
    return text(max(readable(capabilities), key=pair))


def fit(capability: str, capabilities: Iterable[str]) -> Fit:
    """What a GPU of `capability` ("8.6") finds in a build with `capabilities` ("sm_60", "compute_90")."""
    entries = readable(capabilities)
    major, minor = pair(capability)
    # "compute_90" in TensorFlow's list stands for PTX and machine code of 9.0 alike.
    if any(pair(entry)[0] == major and pair(entry)[1] <= minor for entry in entries):
        return Fit.BINARY
    if any(entry.startswith("compute_") and pair(entry) <= (major, minor) for entry in entries):
        return Fit.PTX
    if all(pair(entry) > (major, minor) for entry in entries):
        return Fit.BELOW
    return Fit.GAP


def neighbours(version: str, tables: Tables) -> tuple[tuple[str, ...], ...]:
    """The lists of the nearest releases on either side of a version that does not state its own."""
    try:
        parsed = Version(version)
    except InvalidVersion:
        return ()
    known = [row for row in reversed(tables.releases()) if readable(row.compute_capabilities)]
    before: list[Optional[tuple[str, ...]]] = [
        row.compute_capabilities for row in known if Version(row.version) <= parsed
    ]
    after: list[Optional[tuple[str, ...]]] = [
        row.compute_capabilities for row in known if Version(row.version) > parsed
    ]
    return tuple(found for found in (before[-1:] + after[:1]) if found)


def newer_than_toolkit(capability: str, cuda: str, tables: Tables) -> bool:
    """Whether a toolkit ("12.5.1") does not know GPUs of `capability` ("12.0"). One that the table has not is too new."""
    row = tables.compute_capability(capability)
    return row is None or Version(row.first_cuda).release > Version(cuda).release[:2]
