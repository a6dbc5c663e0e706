"""One run at a time in an environment, also after the run itself was killed and only its installer goes on.

The lock is a locked file that the installer inherits: the kernel gives it up when the last process that holds it ends.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tfdoctor.fixes.snapshot import OWN

NAME = "lock"
PAUSE = 0.2  # seconds between two looks


class Busy(Exception):
    """Somebody else holds the lock."""


@contextmanager
def held(prefix: str, *, patience: float, waiting: Callable[[], None] = lambda: None) -> Iterator[tuple[int, ...]]:
    """Hold the lock of an environment; yields the file descriptors that children are to inherit.

    Waits up to `patience` seconds, after having called `waiting` once. Raises Busy, and OSError when the environment
    cannot be written to. On Windows there is no such lock, and nothing to inherit.
    """
    if sys.platform == "win32":
        yield ()
        return
    parent = Path(prefix) / OWN
    parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(parent / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _wait(handle, time.monotonic() + patience, waiting)
        yield (handle,)
    finally:
        os.close(handle)


def _wait(handle: int, until: float, waiting: Callable[[], None]) -> None:
    import fcntl

    told = False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise Busy from None
            if not told:
                waiting()
                told = True
            time.sleep(PAUSE)
        else:
            return
