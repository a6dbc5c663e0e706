"""Reads a JSON value as what it should be, or as nothing: an answer or a recording may hold anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def text(value: Any) -> str:
    """The value when it is a string, else ""."""
    return value if isinstance(value, str) else ""


def number(value: Any) -> int:
    """The value when it is a whole number, else 0."""
    return value if isinstance(value, int) else 0


def items(value: Any) -> list[Any]:
    """The value when it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def texts(value: Any) -> tuple[str, ...]:
    """The strings of a list."""
    return tuple(v for v in items(value) if isinstance(v, str))


def mapping(value: Any) -> Mapping[str, Any]:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}
