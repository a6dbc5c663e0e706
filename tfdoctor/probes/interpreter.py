"""The target interpreter: what it is, and which distributions it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Interpreter:
    """`version` "3.11.7"; `bits` 32 or 64; `kind` "venv", "conda", "uv", "system", "" unknown; `implementation` "CPython"…

    `externally_managed`: PEP 668. `pip` version, "" none, None not told. `user_site`: it reads the user's site-packages.
    `others` are further interpreters on PATH that have a TensorFlow: (path, TensorFlow version).
    `path` is what `-m pip` is to be run with."""

    path: str
    version: str
    bits: Optional[int]
    kind: str
    implementation: str
    externally_managed: bool
    pip: Optional[str]
    user_site: bool
    prefix: str
    others: tuple[tuple[str, str], ...]
    source: str


@dataclass(frozen=True)
class Distribution:
    """One installed distribution. `name` normalized (PEP 503), `location` its site-packages, `requires` its Requires-Dist.

    `damage` are the files that RECORD names and that are missing, empty or changed (relative paths, the first few);
    `damaged` counts them. `problem`: why its metadata could not be read ("" fine). `installer`: "pip", "uv", "conda", ""."""

    name: str
    version: str
    location: str
    requires: tuple[str, ...] = ()
    damage: tuple[str, ...] = ()
    damaged: int = 0
    problem: str = ""
    installer: str = ""


@dataclass(frozen=True)
class Distributions:
    """Every distribution of the target, by normalized name. `duplicates`: name -> the versions where one is there twice
    on sys.path. `source` tells whether it is complete (metadata) or a `pip freeze`."""

    by_name: Mapping[str, Distribution]
    duplicates: Mapping[str, tuple[str, ...]]
    source: str

    def version(self, name: str) -> str:
        """The version of `name`, or "" when it is not installed."""
        found = self.by_name.get(name)
        return found.version if found else ""
