"""/proc/version and the kernel release: which kernel, and whether it is one of WSL's."""

from __future__ import annotations

import re


def release(version: str) -> str:
    """`Linux version 6.1.0-18-amd64 (…) …` -> "6.1.0-18-amd64"; "" when it is something else."""
    found = re.match(r"\s*Linux version (\S+)", version)
    return found.group(1) if found else ""


def wsl(kernel: str) -> int:
    """0, 1 or 2 from the kernel release. WSL1 calls itself `4.4.0-19041-Microsoft`; WSL2's kernels are real ones,
    4.19 and newer, with `microsoft` in the name."""
    if "microsoft" not in kernel.lower():
        return 0
    return 1 if kernel.startswith(("3.", "4.4.")) else 2
