"""The commands and variables of a fix as lines of the reader's shell."""

from __future__ import annotations

import os
import shlex
from pathlib import PurePosixPath

from tfdoctor.fixes.activation import show
from tfdoctor.model import Fix, Report


def shell_of(report: Report) -> str:
    """The shell in use, by SHELL: "posix", "fish" or "csh"; "powershell" on Windows."""
    platform, environment = report.facts.get("platform"), report.facts.get("environment")
    if platform is not None and platform.system == "windows":
        return "powershell"
    name = PurePosixPath((environment.get("SHELL") if environment else "") or os.environ.get("SHELL", "")).name
    return {"fish": "fish", "csh": "csh", "tcsh": "csh"}.get(name, "posix")


def shell_lines(fix: Fix, shell: str = "posix") -> list[str]:
    """What to type, one line each."""
    return [shlex.join(command) for command in fix.commands] + [show(n, v, shell) for n, v in fix.environment]
