"""What the builders share."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Callable, TypeVar

from tfdoctor.tables import Tables

GIB = 1024**3
MIB = 1024**2
SITE = "/home/me/venv/lib/python3.11/site-packages"
T = TypeVar("T")


def tables() -> Tables:
    """The real tables; read once for all tests."""
    return _tables()


@functools.cache
def _tables() -> Tables:
    return Tables()


def make(kind: Callable[..., T], defaults: Mapping[str, Any], changes: Mapping[str, Any]) -> T:
    return kind(**{**defaults, **changes})
