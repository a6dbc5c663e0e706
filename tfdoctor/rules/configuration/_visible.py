"""CUDA_VISIBLE_DEVICES as the driver reads it.

https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/environment-variables.html: a list of indices or of
UUIDs (GPU-… or MIG-…, shortened as long as they are unique); set but empty hides all; the first entry that names no
GPU hides itself and all after it. What follows a number is ignored ("1gpu" is 1), blanks around it too; an entry
without a number is invalid; the same GPU twice leaves none. The first entry decides whether the list is one of UUIDs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

#: Entries of a list of UUIDs all begin like its first one.
_UUID = ("GPU-", "MIG-")


@dataclass(frozen=True)
class Visible:
    """What a value leaves visible: `chosen` are the entries that count ("0", "GPU-8932f937"), `stopped_at` the first entry
    that names no GPU (None: all entries were taken), `twice` an entry that is there twice."""

    chosen: tuple[str, ...]
    stopped_at: Optional[str] = None
    twice: Optional[str] = None


def read(value: str, count: Optional[int], uuids: tuple[str, ...]) -> Visible:
    """Read a value for a machine with `count` GPUs (None: not known) whose UUIDs are `uuids` (empty: not known)."""
    entries = value.split(",")
    if value.startswith(_UUID):
        return _uuids([entry.strip() for entry in entries], value[:4], uuids)
    chosen: list[str] = []
    for entry in entries:
        number = _number(entry)
        if number is None or number < 0 or (count is not None and number >= count):
            return Visible(tuple(chosen), stopped_at=entry.strip())
        if str(number) in chosen:
            return Visible((), twice=str(number))
        chosen.append(str(number))
    return Visible(tuple(chosen))


def _number(entry: str) -> Optional[int]:
    """The number that an entry begins with: 1 of " 1gpu", None of "all" and of ""."""
    found = re.match(r"\s*([+-]?[0-9]+)", entry)
    return int(found.group(1)) if found else None


def _uuids(entries: list[str], prefix: str, uuids: tuple[str, ...]) -> Visible:
    chosen: list[str] = []
    for entry in entries:
        if not entry.startswith(prefix) or _names_none(entry, prefix, uuids):
            return Visible(tuple(chosen), stopped_at=entry)
        if entry in chosen:
            return Visible((), twice=entry)
        chosen.append(entry)
    return Visible(tuple(chosen))


def _names_none(entry: str, prefix: str, uuids: tuple[str, ...]) -> bool:
    """Whether a GPU's UUID is known to be none of this machine, or to fit several. MIG UUIDs are not known here."""
    if prefix != "GPU-" or not uuids:
        return False
    return sum(1 for uuid in uuids if uuid.lower().startswith(entry.lower())) != 1
