"""Runs a program with its output passed through byte for byte, while somebody else reads along."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Callable

from tfdoctor.i18n import _
from tfdoctor.logs.signals import passed_on
from tfdoctor.model import BadInput

_PIECE = 1 << 16


class Along:
    """What a program prints, as a stream to read from while it runs. Whole lines of the two outputs are kept apart; nothing
    is stored, and a reader that has stopped never holds the program up."""

    def __init__(self) -> None:
        reading, self._writing = os.pipe()
        self.stream: BinaryIO = os.fdopen(reading, "rb", buffering=0)
        self._lock = threading.Lock()

    def feed(self, piece: bytes, rest: bytes) -> bytes:
        """Hand on the whole lines of `rest + piece`; returns what is left over."""
        text = rest + piece
        end = text.rfind(b"\n") + 1 or (len(text) if len(text) > _PIECE else 0)
        if end:
            self._hand_on(text[:end])
        return text[end:]

    def _hand_on(self, text: bytes) -> None:
        with self._lock, contextlib.suppress(OSError):
            while text:
                text = text[os.write(self._writing, text) :]

    def finish(self, rest: bytes) -> None:
        """Hand on what never got a line end."""
        if rest:
            self._hand_on(rest + b"\n")

    def close(self) -> None:
        """No more will come."""
        with self._lock, contextlib.suppress(OSError):
            os.close(self._writing)


@dataclass(frozen=True)
class Ended:
    """How a program ended. `code`: its exit code, as a shell gives it (128 + N when signal N ended it). `cut_off`: whoever
    read our output went away first (`| head`)."""

    code: int
    cut_off: bool


def run_along(command: Sequence[str], read: Callable[[BinaryIO], None]) -> Ended:
    """Run `command` with this process's input and outputs, and `read` over what it prints. Raises BadInput when there is
    no such program."""
    along = Along()
    cut_off = threading.Event()
    with contextlib.ExitStack() as ends:
        outputs = [ends.enter_context(_end(target)) for target in (sys.stdout, sys.stderr)]
        process = _started(command, outputs[0][1], outputs[1][1])
        ends.enter_context(passed_on(process))
        for _mine, theirs in outputs:
            os.close(theirs)
        reader = threading.Thread(target=_reading, args=(along.stream, read), daemon=True)
        copiers = [
            threading.Thread(target=_copy, args=(mine, target.fileno(), along, cut_off), daemon=True)
            for (mine, _theirs), target in zip(outputs, (sys.stdout, sys.stderr))
        ]
        for thread in (reader, *copiers):
            thread.start()
        code = process.wait()
        for thread in copiers:
            thread.join()
        along.close()
        reader.join()
        along.stream.close()
    return Ended(code if code >= 0 else 128 - code, cut_off.is_set())


def _started(command: Sequence[str], stdout: int, stderr: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(list(command), stdout=stdout, stderr=stderr)
    except OSError as error:
        why = error.strerror or str(error)
        raise BadInput(_("{program} cannot be run: {why}.").format(program=command[0], why=why)) from None


@contextlib.contextmanager
def _end(target: object) -> Iterator[tuple[BinaryIO, int]]:
    """(our end, the program's end) of one output: a pseudo-terminal where the output is a terminal, so that the program
    prints as it would without us; else a pipe. The program's end is closed by whoever starts it."""
    reading, writing = _terminal() if getattr(target, "isatty", bool)() and os.name == "posix" else os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as ours:
        yield ours, writing


def _terminal() -> tuple[int, int]:
    import fcntl
    import pty
    import termios

    ours, theirs = pty.openpty()
    settings = termios.tcgetattr(theirs)
    settings[1] &= ~termios.OPOST  # the real terminal turns line ends; doing it twice would change the output
    termios.tcsetattr(theirs, termios.TCSANOW, settings)
    with contextlib.suppress(OSError):
        size = fcntl.ioctl(sys.stdout.fileno(), termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
    return ours, theirs


def _copy(source: BinaryIO, target: int, along: Along, cut_off: threading.Event) -> None:
    """Everything from `source` to `target` as it comes, and its lines to the reader. When nobody reads `target` any more,
    nobody reads the program either: it gets the SIGPIPE that it would get without us."""
    rest = b""
    while True:
        try:
            piece = source.read(_PIECE)
        except OSError:  # a pseudo-terminal ends with EIO
            break
        if not piece:
            break
        try:
            _write(target, piece)
        except BrokenPipeError:
            cut_off.set()
            break
        rest = along.feed(piece, rest)
    along.finish(rest)
    source.close()


def _write(target: int, piece: bytes) -> None:
    """All of it. Raises BrokenPipeError; what fails otherwise (a full disk) is lost and the program goes on."""
    try:
        while piece:
            piece = piece[os.write(target, piece) :]
    except BrokenPipeError:
        raise
    except OSError:
        return


def _reading(stream: BinaryIO, read: Callable[[BinaryIO], None]) -> None:
    """`read`, and then the rest: a program must never wait for us."""
    try:
        read(stream)
    finally:
        while stream.read(_PIECE):
            pass
