"""/proc/meminfo."""

from __future__ import annotations

import re


def parse(text: str) -> dict[str, int]:
    """`MemTotal:  16384 kB` -> {"MemTotal": 16777216}: bytes."""
    found = re.findall(r"^(\w+)(?:\(\w+\))?:[ \t]*([0-9]{1,18})[ \t]*(kB)?[ \t]*$", text, re.M)
    return {name: int(number) * (1024 if unit else 1) for name, number, unit in found}
