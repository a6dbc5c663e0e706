"""GPU code and compute capabilities: how they are written, and which code runs on which GPU."""

from __future__ import annotations


def as_text(code: str) -> str:
    """ "sm_86" or "compute_86" or "86" as compute capability text: "8.6" ("sm_120" is "12.0")."""
    digits = code.rpartition("_")[2].rstrip("af")
    return f"{digits[:-1]}.{digits[-1]}"


def runs_on(compute_capability: str, machine_code: tuple[str, ...]) -> bool:
    """Whether one of the sm_ codes runs on a GPU: the same major version and a minor that is not higher."""
    major, minor = as_pair(compute_capability)
    have = [as_pair(as_text(code)) for code in machine_code]
    return any(code[0] == major and code[1] <= minor for code in have)


def as_pair(version: str) -> tuple[int, int]:
    """(major, minor) of a compute capability or PTX ISA version, for comparisons: "8.6" is (8, 6)."""
    major, _, minor = version.partition(".")
    return int(major), int(minor or 0)
