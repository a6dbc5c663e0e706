"""Dataclasses as plain JSON values, without what must not leave the machine."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any

# Identify a machine or a part of it; no reader of a report needs them.
PRIVATE = frozenset({"uuid", "serial"})


def plain(value: Any) -> Any:
    """`value` as JSON knows it: a pair as a key is "0-1", a set a sorted list, an enum its text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.name not in PRIVATE}
    if isinstance(value, Mapping):
        return {_key(k): plain(v) for k, v in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(v) for v in value)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return str(value) if isinstance(value, enum.Enum) else value


def _key(key: Any) -> str:
    return "-".join(map(str, key)) if isinstance(key, tuple) else str(key)
