"""/proc/cpuinfo, in the forms that x86, Arm and POWER print."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class CpuInfo:
    """Model name, flags of the first core (lower case), number of logical cores, and the machine that this form of the
    file belongs to ("x86_64", "aarch64", "ppc64le", "" not recognised)."""

    model: str
    flags: frozenset[str]
    cores: int
    machine: str


def parse(text: str) -> CpuInfo:
    """The first value of each key counts; cores are counted by their `processor : N` lines."""
    values: dict[str, str] = {}
    cores = 0
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if not colon:
            continue
        name = key.strip().lower()
        cores += name == "processor" and value.strip().isdecimal()
        values.setdefault(name, value.strip())
    flags = frozenset((values.get("flags") or values.get("features") or "").lower().split())
    model = values.get("model name") or values.get("cpu") or values.get("model") or ""
    return CpuInfo(model, flags, cores, _machine(values, flags))


def _machine(values: dict[str, str], flags: frozenset[str]) -> str:
    if "lm" in flags:  # "long mode": an x86 processor with 64 bits
        return "x86_64"
    if "cpu implementer" in values and values.get("cpu architecture") == "8":
        return "aarch64"
    return "ppc64le" if re.match(r"POWER\d", values.get("cpu", "")) else ""


def relevant(text: str) -> str:
    """The first core's lines, and of the others only their numbers: a file for 256 cores has 400 KB."""
    kept = []
    first = True
    for line in text.splitlines():
        name = line.partition(":")[0].strip().lower()
        if name == "processor":
            kept.append(line)
        elif not line.strip():
            first = first and not kept
        elif name != "serial" and (first or name in ("model", "hardware", "cpu")):
            kept.append(line)
    return "\n".join(kept) + "\n"
