"""Ends our children where this program is killed (SIGKILL) and cannot end them itself."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import Optional

# Reads "+ GROUP" and "- GROUP" until its input ends, as it does when whoever writes is gone, and then kills what is left.
WATCH = """\
import os, signal, sys
watched = set()
for line in sys.stdin:
    sign, group = line.split()
    (watched.add if sign == "+" else watched.discard)(int(group))
for group in watched:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
"""


class Guard:
    """A process that outlives us by a moment and kills the process groups that we still watched then.

    It works for programs of any kind, and for what they started. On Windows there is no guard: a child that hangs then stays,
    since its time limit ends with us."""

    def __init__(self) -> None:
        self._process: Optional[subprocess.Popen[bytes]] = None
        if os.name == "posix":
            with contextlib.suppress(OSError):
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", WATCH],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )

    def watch(self, group: int) -> None:
        """Kill this process group when we are gone."""
        self._say(f"+ {group}\n")

    def forget(self, group: int) -> None:
        """It has come to its end: its number may soon be another's."""
        self._say(f"- {group}\n")

    def close(self) -> None:
        """Nothing is left to be watched."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)

    def _say(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):  # it was killed, or closed
                self._process.stdin.write(line.encode())
                self._process.stdin.flush()
