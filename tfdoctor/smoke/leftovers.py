"""Ends what a smoke test started and left behind, even if it went into a session of its own."""

from __future__ import annotations

import contextlib
import os

MARK = "TFDOCTOR_SMOKE_RUN"  # an environment variable that every process of one run inherits


def end_leftovers(run: str) -> int:
    """Kill every process whose environment carries the mark `run`; returns how many there were."""
    import psutil

    ended = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(MARK) == run:
                process.kill()
                ended.append(process)
    psutil.wait_procs(ended, timeout=1.0)
    return len(ended)
