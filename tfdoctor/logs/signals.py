"""Signals that reach tfdoctor while it runs a program: what was sent to tfdoctor alone is passed on to the program."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Optional

#: Passed on where the system knows them.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
#: These the terminal sends to the program as well: passed on only when a process sent them (si_code of signal.h: 0 or
#: less), or else the program would be interrupted twice.
_BY_TERMINAL = ("SIGINT", "SIGHUP")


@contextlib.contextmanager
def passed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """While this lasts, signals go to `process` and do not end tfdoctor. What is ignored here (nohup) stays ignored.

    Threads that are to leave the signals alone are started within."""
    numbers = [n for n in (getattr(signal, name, None) for name in _NAMES) if n is not None]
    wanted = {number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN}
    with _waited_for(process, wanted) if hasattr(signal, "sigwaitinfo") else _handled(process, wanted):
        yield


@contextlib.contextmanager
def _waited_for(process: subprocess.Popen[bytes], wanted: set[signal.Signals]) -> Iterator[None]:
    """By a thread that learns who sent a signal, where the system can tell (Linux)."""
    over = threading.Event()
    by_terminal = {getattr(signal, name) for name in _BY_TERMINAL}

    def listen() -> None:
        while True:
            came = signal.sigwaitinfo(wanted | {signal.SIGUSR2})
            if over.is_set():
                return
            if came.si_code <= 0 or came.si_signo not in by_terminal:
                process.send_signal(came.si_signo)

    before = signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    listener = threading.Thread(target=listen, daemon=True)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    listener.start()
    try:
        yield
    finally:
        over.set()
        if listener.ident is not None:
            signal.pthread_kill(listener.ident, signal.SIGUSR2)
        listener.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _handled(process: subprocess.Popen[bytes], wanted: set[signal.Signals]) -> Iterator[None]:
    """By handlers, which cannot tell who sent a signal: one that the terminal may have sent stays here."""

    def handle(number: int, _frame: Optional[FrameType]) -> None:
        if signal.Signals(number).name not in _BY_TERMINAL or not _in_foreground():
            process.send_signal(number)

    before = {number: signal.signal(number, handle) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether the terminal's keys reach this process (and so the program)."""
    if os.name != "posix":
        return True
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
