"""The machine that we run on. Whatever can hang or crash is asked in a child process with a time limit."""

from __future__ import annotations

import glob as globbing
import json
import os
import stat as stat_module
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

from tfdoctor.children import Children, Completed, Promise
from tfdoctor.elf import Elf, read_elf
from tfdoctor.host.base import CAPTURES, MOST_TEXT, Host, Space, Stat, kind_of
from tfdoctor.i18n import _
from tfdoctor.model import BadInput, Unavailable

# What TFDOCTOR_ROOT moves: the system's own folders, the two files by which a container is known, and cloud-init's.
ROOTED = ("/proc", "/sys", "/dev", "/etc", "/.dockerenv", "/run/.containerenv", "/run/cloud-init")
SYSTEM_FOLDERS = ("/usr/sbin", "/sbin")  # modinfo and lspci lie there, and not every user's PATH names them
TIME_LIMIT = 20.0  # seconds for one child; NVML on 8 GPUs without persistence mode needs several
# Opens each argument and prints a line for it: nothing, or the error's text.
OPEN_EACH = """\
import os, sys
for path in sys.argv[1:]:
    try:
        os.close(os.open(path, os.O_RDWR | getattr(os, "O_NONBLOCK", 0)))
        print(flush=True)
    except OSError as error:
        print(error.strerror or error, flush=True)
"""
OPEN_LIMIT = 10.0  # seconds; without persistence mode the first opening of a GPU takes up to three
PROBES = Path(__file__).parent.parent / "probes"  # where the children's scripts lie
TARGET = Path(__file__).parent.parent / "target" / "child.py"  # what the target interpreter runs


class LiveHost(Host):
    """This machine. `root` stands in for / in ROOTED (TFDOCTOR_ROOT).

    `named`: somebody named the target, so one that runs and does not answer as a Python interpreter does is bad input.
    One that hangs or crashes is not: that is something to report.
    """

    live = True

    def __init__(
        self,
        target: Optional[str] = None,
        *,
        root: Optional[str] = None,
        timeout: float = TIME_LIMIT,
        named: bool = False,
    ) -> None:
        self.target = target or sys.executable
        self._root = os.path.normpath(root).rstrip("/") if root else ""
        self._timeout = timeout
        self._named = named
        self._children = Children()
        self._promises: dict[str, Promise[Any]] = {}

    def start(self) -> LiveHost:
        """Start the children that every check needs, side by side."""
        self._promise("NVML", self._ask_nvml)
        self._promise(_("the target interpreter"), self._ask_target)
        nodes = self.glob("/dev/nvidia*")
        if nodes:
            self._opening(nodes)
        if nodes or self.glob("/dev/dxg"):  # without a GPU there is nothing to try; a probe may still ask
            self._promise("CUDA", self._ask_cuda)
        return self

    def path(self, path: str) -> str:
        """Where `path` of the machine really lies."""
        if self._root and any(path == r or path.startswith(r + "/") for r in ROOTED):
            return self._root + path
        return path

    def _own(self, path: str) -> str:
        """The machine's name of a real path: the inverse of `path`."""
        return path[len(self._root) :] if self._root and path.startswith(self._root + "/") else path

    def read_bytes(self, path: str, limit: int = MOST_TEXT) -> Optional[bytes]:
        try:
            with open(self.path(path), "rb") as file:
                return file.read(limit)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise Unavailable(f"{path}: {error.strerror}") from error

    def read(self, path: str) -> Optional[str]:
        data = self.read_bytes(path)
        return None if data is None else data.decode("utf-8", "replace")

    def glob(self, pattern: str) -> tuple[str, ...]:
        return tuple(sorted(self._own(p) for p in globbing.glob(self.path(pattern))))

    def stat(self, path: str) -> Optional[Stat]:
        try:
            found = os.stat(self.path(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise Unavailable(f"{path}: {error.strerror}") from error
        return Stat(
            stat_module.S_IMODE(found.st_mode),
            found.st_uid,
            found.st_gid,
            found.st_size,
            kind_of(found.st_mode),
        )

    def realpath(self, path: str) -> str:
        return self._own(os.path.realpath(self.path(path)))

    def elf(self, path: str) -> Optional[Elf]:
        where = self.path(path)
        try:
            with open(where, "rb") as file:
                return read_elf(file, self.realpath(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:  # what the loader cannot read either
            return Elf(path, problem=error.strerror or str(error))

    def can_open(self, path: str) -> str:
        """In a child, all GPU nodes at once: opening one wakes the GPU, and a wedged driver blocks for ever."""
        nodes = tuple(dict.fromkeys((*self.glob("/dev/nvidia*"), path)))
        return str(self._opening(nodes).result()[path])

    def _opening(self, nodes: tuple[str, ...]) -> Promise[Any]:
        return self._promise(f"open {' '.join(nodes)}", lambda: self._try_to_open(nodes))

    def _try_to_open(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Path -> "" or the error's text, as far as opening came within the limit."""
        argv = ["-I", "-S", "-c", OPEN_EACH, *map(self.path, paths)]
        said = self._own_child(argv, min(self._timeout, OPEN_LIMIT)).stdout.splitlines()
        if len(said) < len(paths):
            stuck = paths[len(said)]
            raise Unavailable(_("opening {path} did not come to an end").format(path=stuck))
        return dict(zip(paths, said))

    def space(self, path: str) -> Optional[Space]:
        if not hasattr(os, "statvfs"):
            raise Unavailable(_("this system has no statvfs"))
        try:
            found = os.statvfs(self.path(path))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unavailable(f"{path}: {error.strerror}") from error
        return Space(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)

    def env(self) -> Mapping[str, str]:
        return os.environ

    def capture(self, name: str) -> Optional[Completed]:
        argv = CAPTURES[name]
        promise = self._promise(" ".join(argv), lambda: self.run(argv))
        done: Optional[Completed] = promise.result()
        if done is not None and done.timed_out:
            raise Unavailable(_did_not_answer(" ".join(argv), self._timeout))
        return done

    def run(self, argv: Sequence[str]) -> Optional[Completed]:
        """Run a program of the machine within the time limit; None when there is none."""
        places = os.pathsep.join((os.environ.get("PATH", os.defpath), *SYSTEM_FOLDERS))
        try:
            return self._children.run(argv, timeout=self._timeout, env={**os.environ, "LC_ALL": "C", "PATH": places})
        except OSError as error:
            raise Unavailable(f"{argv[0]}: {error.strerror}") from error

    def nvml(self) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = self._promise("NVML", self._ask_nvml).result()
        return answer

    def cuda(self) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = self._promise("CUDA", self._ask_cuda).result()
        return answer

    def target_answer(self) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = self._promise(_("the target interpreter"), self._ask_target).result()
        return answer

    def pip_freeze(self) -> Optional[str]:
        return None

    def waiting_for(self) -> tuple[str, ...]:
        return tuple(p.what for p in self._promises.values() if p.pending)

    def close(self) -> None:
        self._children.close()

    def _promise(self, what: str, call: Any) -> Promise[Any]:
        if what not in self._promises:
            self._promises[what] = Promise(what, call)
        return self._promises[what]

    def _own_child(self, arguments: Sequence[str], seconds: float) -> Completed:
        """A script in this interpreter. Raises Unavailable when it could not be started (too many processes)."""
        try:
            done = self._children.run([sys.executable, *arguments], timeout=seconds)
        except OSError as error:
            raise Unavailable(f"{sys.executable}: {error.strerror}") from error
        if done is None:
            raise Unavailable(_("{program} could not be started").format(program=sys.executable))
        return done

    def _ask_nvml(self) -> Mapping[str, Any]:
        """NVML in a child: a wedged driver blocks in the kernel and a broken one crashes the caller."""
        done = self._own_child([str(PROBES / "nvml_child.py")], self._timeout)
        # The child prints what it knows as it goes, so even one that was killed tells the driver's version.
        answer = _json_answer(done, "NVML", {"state": "crashed"})
        if done.timed_out:
            return {**answer, "state": "timed-out", "error": _did_not_answer("NVML", self._timeout)}
        if answer.get("state") == "crashed":
            return {**answer, "error": _no_answer(done, "NVML")}
        return answer

    def _ask_cuda(self) -> Mapping[str, Any]:
        """libcuda in a child, with this process's environment. One that could not be started is "unknown", and no yes."""
        try:
            done = self._own_child(["-I", "-S", str(PROBES / "cuda_child.py")], self._timeout)
        except Unavailable as why:
            return {"state": "unknown", "error": str(why)}
        answer = _json_answer(done, "CUDA", {"state": "crashed"})
        if done.timed_out:
            return {**answer, "state": "timed-out", "error": _did_not_answer("CUDA", self._timeout)}
        if answer.get("state") == "crashed":
            return {**answer, "error": _no_answer(done, "CUDA")}
        return answer

    def _ask_target(self) -> Mapping[str, Any]:
        try:
            done = self._children.run([self.target, "-B", str(TARGET)], timeout=self._timeout)
        except OSError as error:
            raise Unavailable(f"{self.target}: {error.strerror}") from error
        if done is None:
            raise Unavailable(_("there is no interpreter {path}").format(path=self.target))
        if done.timed_out:
            raise Unavailable(_did_not_answer(self.target, self._timeout))
        answer = _json_answer(done, self.target, {})
        if set(answer) == {"error"}:
            if self._named and done.code is not None and done.code >= 0:
                text = _("{path} does not answer as a Python interpreter does: {why}.")
                raise BadInput(text.format(path=self.target, why=answer["error"]))
            raise Unavailable(str(answer["error"]))
        return answer


def _did_not_answer(what: str, seconds: float) -> str:
    return _("{what} did not answer within {seconds:g} s").format(what=what, seconds=seconds)


def _json_answer(done: Completed, who: str, otherwise: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON object on the last line that a child printed, or `otherwise` with what went wrong."""
    for line in reversed(done.stdout.splitlines()):
        if line.startswith("{"):
            try:
                answer = json.loads(line)
            except ValueError:
                break
            if isinstance(answer, dict):
                return answer
    return {**otherwise, "error": _no_answer(done, who)}


def _no_answer(done: Completed, who: str) -> str:
    """How a child ended that did not say what it was asked."""
    last = (done.stderr.strip().splitlines() or [""])[-1][:300]
    ended = (
        _("signal {number}").format(number=-done.code)
        if done.code is not None and done.code < 0
        else _("exit code {code}").format(code=done.code)
    )
    return _("{who} gave no answer ({ended}): {last}").format(who=who, ended=ended, last=last).rstrip(": ")
