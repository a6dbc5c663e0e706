"""/etc/os-release: shell assignments that name the distribution."""

from __future__ import annotations

import shlex


def parse(text: str) -> dict[str, str]:
    """`ID="ubuntu"` -> {"ID": "ubuntu"}; lines that are no assignment are left out."""
    values = {}
    for line in text.splitlines():
        name, sign, value = line.strip().partition("=")
        if sign and name and not name.startswith("#"):
            values[name] = _unquoted(value)
    return values


def _unquoted(value: str) -> str:
    try:
        return " ".join(shlex.split(value))
    except ValueError:  # a quote that is never closed
        return value.strip("\"'")
