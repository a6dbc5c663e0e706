"""Ends our children where this program is killed (SIGKILL) and cannot end them itself."""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import Optional

# Reads "+ GROUP" and "- GROUP" until its input ends, as it does when whoever writes is gone, and then kills what is left.
WATCH = """\
watched=
while read -r sign group; do
    left=
    for one in $watched; do [ "$one" = "$group" ] || left="$left $one"; done
    watched=$left
    [ "$sign" = - ] || watched="$watched $group"
done
for group in $watched; do kill -s KILL -- "-$group"; done
"""


class Guard:
    """A shell that outlives us by a moment and kills the process groups that we still watched then.

    It works for programs of any kind, and for what they started. Where there is no shell (Windows, some images) there is no
    guard: a child that hangs then stays, since its time limit ends with us."""

    def __init__(self) -> None:
        self._shell: Optional[subprocess.Popen[bytes]] = None
        if os.name == "posix":
            with contextlib.suppress(OSError):
                self._shell = subprocess.Popen(
                    ["/bin/sh", "-c", WATCH],
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
        if self._shell is not None and self._shell.stdin is not None:
            with contextlib.suppress(OSError):
                self._shell.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._shell.wait(1.0)

    def _say(self, line: str) -> None:
        if self._shell is not None and self._shell.stdin is not None:
            with contextlib.suppress(OSError, ValueError):  # the shell was killed, or closed
                self._shell.stdin.write(line.encode())
                self._shell.stdin.flush()
