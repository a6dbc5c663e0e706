"""Says on a terminal what is being waited for, when that takes longer than a second."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Callable, Optional

from tfdoctor.i18n import _
from tfdoctor.terminal import lively

PATIENCE = 1.0  # seconds before the first word


class Progress:
    """A context in which `waiting_for()` is shown on standard error, if that is a terminal that somebody looks at."""

    def __init__(self, waiting_for: Callable[[], tuple[str, ...]]) -> None:
        self._waiting_for = waiting_for
        self._done = threading.Event()
        self._thread: Optional[threading.Thread] = None

    def __enter__(self) -> Progress:
        if lively():
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()

    def _show(self) -> None:
        started = time.monotonic()
        shown = False
        while not self._done.wait(PATIENCE if not shown else 0.5):
            what = ", ".join(self._waiting_for()) or _("the rules")
            text = _("waiting for {what} ({seconds:.0f} s)").format(what=what, seconds=time.monotonic() - started)
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
            shown = True
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
