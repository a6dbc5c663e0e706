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
    that names no GPU (None: all entries were taken), `twice` an entry that is there twice. `unchecked`: the first entry
    that is taken for one of a GPU here, because the UUIDs of this machine are not known."""

    chosen: tuple[str, ...]
    stopped_at: Optional[str] = None
    twice: Optional[str] = None
    unchecked: Optional[str] = None


def read(
    value: str, count: Optional[int], uuids: tuple[str, ...], instances: Optional[tuple[str, ...]] = None
) -> Visible:
    """Read a value for a machine with `count` GPUs (None: not known) whose UUIDs are `uuids` (empty: not known) and whose
    MIG instances have the UUIDs `instances` (None: not known, empty: there is none)."""
    entries = value.split(",")
    if value.startswith(_UUID):
        return _uuids([entry.strip() for entry in entries], value[:4], uuids, instances)
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


def _uuids(entries: list[str], prefix: str, uuids: tuple[str, ...], instances: Optional[tuple[str, ...]]) -> Visible:
    chosen: list[str] = []
    unchecked = None
    for entry in entries:
        known = _names_gpu(entry, uuids) if prefix == "GPU-" else _names_instance(entry, uuids, instances)
        if not entry.startswith(prefix) or known is False:
            return Visible(tuple(chosen), stopped_at=entry, unchecked=unchecked)
        if entry in chosen:
            return Visible((), twice=entry)
        if known is None and unchecked is None:
            unchecked = entry
        chosen.append(entry)
    return Visible(tuple(chosen), unchecked=unchecked)


def _names_gpu(entry: str, uuids: tuple[str, ...]) -> Optional[bool]:
    """Whether a GPU's UUID, perhaps shortened, is that of one GPU here; None where the UUIDs are not known."""
    return _fits_one(entry, uuids) if uuids else None


def _names_instance(entry: str, uuids: tuple[str, ...], instances: Optional[tuple[str, ...]]) -> Optional[bool]:
    """The same for a MIG instance: "MIG-…", or "MIG-GPU-…/1/0" of drivers before 470, which newer ones still read."""
    if instances is None:
        return None
    if not instances or _fits_one(entry, instances):
        return bool(instances)
    if not entry.startswith("MIG-GPU-") or any(instance.startswith("MIG-GPU-") for instance in instances):
        return False
    # The driver names its instances the new way: of the old way only the GPU's part can be compared.
    return False if uuids and not _fits_one(entry[len("MIG-") :].split("/")[0], uuids) else None


def _fits_one(entry: str, known: tuple[str, ...]) -> bool:
    return sum(1 for uuid in known if uuid.lower().startswith(entry.lower())) == 1
