"""Runs a program that may hang, crash, flood or leave children behind, and always comes back."""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Callable, Generic, Optional, TypeVar

from tfdoctor.guard import Guard

T = TypeVar("T")

# More than any program we ask prints on the largest machine (`nvidia-smi -q -x` of 16 GPUs is about 1 MB).
MOST_OUTPUT = 16 * 1024 * 1024


@dataclass(frozen=True)
class Completed:
    """How a child ended. `code` is None when it was recorded without one, negative for a signal.

    `timed_out`: it was killed at its limit. `truncated`: it printed more than MOST_OUTPUT bytes.
    """

    stdout: str
    stderr: str = ""
    code: Optional[int] = 0
    timed_out: bool = False
    truncated: bool = False
    seconds: float = 0.0


class Children:
    """The processes that are running now; `close` ends them all, with what they started, and so does this program's end,
    even where it is killed."""

    def __init__(self) -> None:
        self._guard: Optional[Guard] = None
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False
        atexit.register(self.close)

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[str] = None,
        stdin: bytes = b"",
        inherit: Sequence[int] = (),
    ) -> Optional[Completed]:
        """Run `argv` without a shell; None when there is no such program. Raises OSError when it cannot start.

        `env` is the whole environment (default: this process's). The child leads a process group of its own, which is killed
        at the end, so that nothing it started outlives it. `inherit` are open files that the child keeps: a lock, under
        which an installer comes to its end even where we are killed.
        """
        started = time.monotonic()
        try:
            process = self._start(argv, env, cwd, inherit)
        except FileNotFoundError:
            return None
        try:
            return self._attend(process, stdin, started + timeout, started)
        finally:
            kill_tree(process)
            with self._lock:
                self._running.discard(process)
                if self._guard is not None:
                    self._guard.forget(process.pid)

    def _start(
        self, argv: Sequence[str], env: Optional[Mapping[str, str]], cwd: Optional[str], inherit: Sequence[int]
    ) -> subprocess.Popen[bytes]:
        with self._lock:  # none starts behind the back of `close`
            if self._closed:
                raise OSError(errno.ECANCELED, os.strerror(errno.ECANCELED))
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=None if env is None else dict(env),
                cwd=cwd,
                start_new_session=True,
                pass_fds=tuple(inherit),
            )
            self._running.add(process)
            if not inherit:
                self._guard = self._guard or Guard()
                self._guard.watch(process.pid)
            return process

    def _attend(self, process: subprocess.Popen[bytes], stdin: bytes, deadline: float, started: float) -> Completed:
        full = threading.Event()
        readers = [_Reader(pipe, full) for pipe in (process.stdout, process.stderr) if pipe is not None]
        _feed(process.stdin, stdin)
        timed_out = False
        while process.poll() is None:
            if full.is_set():
                break
            if time.monotonic() > deadline:
                timed_out = True
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(min(0.05, max(deadline - time.monotonic(), 0.001)))
        code = process.poll()
        kill_tree(process)
        for reader in readers:
            reader.join(1.0)  # a process stuck in the kernel can hold its pipe open for ever
        out, err = (r.text() for r in readers)
        _close(process, readers)
        return Completed(out, err, code, timed_out, full.is_set(), time.monotonic() - started)

    def close(self) -> None:
        """Kill whatever is still running; nothing starts any more."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for process in running:
            kill_tree(process)
        if self._guard is not None:
            self._guard.close()
        atexit.unregister(self.close)


class _Reader(threading.Thread):
    """Collects one pipe, up to MOST_OUTPUT bytes."""

    def __init__(self, pipe: IO[bytes], full: threading.Event) -> None:
        super().__init__(daemon=True)
        self._pipe, self._full = pipe, full
        self._parts: list[bytes] = []
        self.start()

    def run(self) -> None:
        size = 0
        with contextlib.suppress(OSError, ValueError):
            while part := os.read(self._pipe.fileno(), 65536):
                if size < MOST_OUTPUT:
                    self._parts.append(part)
                size += len(part)
                if size >= MOST_OUTPUT:
                    self._full.set()

    def text(self) -> str:
        return b"".join(self._parts)[:MOST_OUTPUT].decode("utf-8", "replace")


def _close(process: subprocess.Popen[bytes], readers: Sequence[_Reader]) -> None:
    """Close the pipes that nobody reads any more; a reader that is stuck keeps its own."""
    for pipe, reader in zip((process.stdout, process.stderr), readers):
        if pipe is not None and not reader.is_alive():
            pipe.close()


def _feed(pipe: Optional[IO[bytes]], data: bytes) -> None:
    if pipe is None:
        return
    with contextlib.suppress(OSError):
        pipe.write(data)
        pipe.flush()
    with contextlib.suppress(OSError):
        pipe.close()


def kill_tree(process: subprocess.Popen[Any]) -> None:
    """Kill `process` and all it started; return within a second even if the kernel keeps one of them."""
    escaped = _descendants(process) if process.poll() is None else []
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    for other in escaped:
        with contextlib.suppress(OSError):
            os.kill(other, signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
    if process.poll() is None:
        with contextlib.suppress(OSError):
            process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)


def _descendants(process: subprocess.Popen[Any]) -> list[int]:
    """What `process` started, also in other process groups. Only a process that must be killed is worth the import."""
    import psutil

    with contextlib.suppress(psutil.Error):
        return [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
    return []


class Promise(Generic[T]):
    """A call that has been started on a thread of its own; `result()` waits for it."""

    def __init__(self, what: str, call: Callable[[], T]) -> None:
        self.what = what
        self._call = call
        self._value: Optional[T] = None
        self._error: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            self._value = self._call()
        except BaseException as error:  # noqa: BLE001  handed to whoever asks for the result
            self._error = error

    @property
    def pending(self) -> bool:
        """Still running?"""
        return self._thread.is_alive()

    def result(self) -> T:
        """What the call returned, or the exception that it raised."""
        while self._thread.is_alive():
            self._thread.join(0.2)  # in slices, so that Ctrl-C is heard
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]
