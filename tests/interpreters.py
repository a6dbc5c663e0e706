"""The Python interpreters of this machine, by version."""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from pathlib import Path


@functools.cache
def find_python(version: str) -> str | None:
    """A working interpreter of a version ("3.9"): this one, one on PATH, or one that pyenv keeps; None when there is none."""
    own = sys.executable if version == "{}.{}".format(*sys.version_info) else ""
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for path in (own, shutil.which(f"python{version}") or "", *map(str, kept)):
        if path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
            return path
    return None
