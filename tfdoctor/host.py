"""The one door to a machine: the live one, or one recorded in a folder.

Every method tells three states apart: a value (seen), None or empty (seen to be absent), and `Unavailable`
(could not look, with the reason).
"""

from __future__ import annotations

import fnmatch
import glob as globbing
import io
import json
import os
import stat as stat_module
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from tfdoctor.children import Children, Completed, Promise
from tfdoctor.elf import Elf, from_json, read_elf
from tfdoctor.i18n import _
from tfdoctor.model import BadInput, Unavailable

# What a recording calls the output of a command. `record` writes these, `--host` reads them.
CAPTURES: Mapping[str, tuple[str, ...]] = {
    "nvidia-smi.txt": ("nvidia-smi",),
    "nvidia-smi-q.xml": ("nvidia-smi", "-q", "-x"),
    "nvidia-smi-topo-m.txt": ("nvidia-smi", "topo", "-m"),
    "nvidia-smi-topo-p2p.txt": ("nvidia-smi", "topo", "-p2p", "r"),
    "nvidia-smi-nvlink.txt": ("nvidia-smi", "nvlink", "-s"),
    "lspci-vvv.txt": ("lspci", "-vvv", "-nn"),
    "dmesg.txt": ("dmesg",),
    "rocm-smi.json": ("rocm-smi", "--showallinfo", "--json"),
    "modinfo.txt": ("modinfo", "nvidia"),
    "journal.txt": ("journalctl", "-k", "-b", "-q", "--no-pager", "-o", "cat"),
}

RECORDING_SCHEMA = 1
# What TFDOCTOR_ROOT moves: the system's own folders, and the two files by which a container is known.
ROOTED = ("/proc", "/sys", "/dev", "/etc", "/.dockerenv", "/run/.containerenv")
MOST_TEXT = 4 * 1024 * 1024  # the longest file a probe reads here is /var/lib/dpkg/status
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


@dataclass(frozen=True)
class Stat:
    """What `stat` says of a path: permission bits, owner, group, size in bytes, "char" | "dir" | "file" | "other".

    `group` is the group's name where a listing gave the name and no number (gid is -1 then)."""

    mode: int
    uid: int
    gid: int
    size: int
    kind: str
    group: str = ""


@dataclass(frozen=True)
class Space:
    """What statvfs says of a file system, in bytes."""

    total: int
    free: int


class Host(ABC):
    """A machine that can be looked at."""

    target: str  # the interpreter that is asked about, as a path or a name

    @abstractmethod
    def read(self, path: str) -> Optional[str]:
        """The text of a file (at most MOST_TEXT bytes of it), or None when there is none."""

    @abstractmethod
    def read_bytes(self, path: str, limit: int = MOST_TEXT) -> Optional[bytes]:
        """The first `limit` bytes of a file, or None when there is none."""

    @abstractmethod
    def glob(self, pattern: str) -> tuple[str, ...]:
        """The paths that match, sorted."""

    @abstractmethod
    def stat(self, path: str) -> Optional[Stat]:
        """What a path is, links followed; None when there is nothing."""

    @abstractmethod
    def realpath(self, path: str) -> str:
        """`path` with every link resolved, as the machine would see it."""

    @abstractmethod
    def elf(self, path: str) -> Optional[Elf]:
        """What the dynamic loader reads in the shared library at `path`, or None when there is no such file."""

    @abstractmethod
    def can_open(self, path: str) -> str:
        """Empty when this user can open `path` for reading and writing, else the error's text."""

    @abstractmethod
    def space(self, path: str) -> Optional[Space]:
        """The file system that holds `path`, or None when there is no such path."""

    @abstractmethod
    def env(self) -> Mapping[str, str]:
        """The environment variables a program would be started with."""

    @abstractmethod
    def capture(self, name: str) -> Optional[Completed]:
        """What the command that CAPTURES calls `name` prints; None when there is no such program."""

    @abstractmethod
    def nvml(self) -> Mapping[str, Any]:
        """What NVML answered, in the shape that probes/nvml_child.py describes."""

    @abstractmethod
    def target_answer(self) -> Mapping[str, Any]:
        """What the target interpreter said of itself, in the shape that probes/target_child.py describes."""

    @abstractmethod
    def pip_freeze(self) -> Optional[str]:
        """`pip freeze` of the target, where nothing better is recorded; None on a live machine."""

    def stated(self, what: str) -> Any:
        """What a recording states of the machine beside its files ("platform", "shm"…); None where it does not,
        and on a live machine."""
        return None

    @property
    @abstractmethod
    def live(self) -> bool:
        """Is this the machine we run on?"""

    def is_file(self, path: str) -> bool:
        """Is there a regular file at `path`?"""
        found = self.stat(path)
        return found is not None and found.kind == "file"

    def waiting_for(self) -> tuple[str, ...]:
        """What is still being waited for, in words."""
        return ()

    def close(self) -> None:
        """End whatever was started; nothing was unless a subclass did."""
        return


class LiveHost(Host):
    """This machine. `root` stands in for / in ROOTED (TFDOCTOR_ROOT)."""

    live = True

    def __init__(
        self, target: Optional[str] = None, *, root: Optional[str] = None, timeout: float = TIME_LIMIT
    ) -> None:
        self.target = target or sys.executable
        self._root = os.path.normpath(root).rstrip("/") if root else ""
        self._timeout = timeout
        self._children = Children()
        self._promises: dict[str, Promise[Any]] = {}

    def start(self) -> LiveHost:
        """Start the children that every check needs, side by side."""
        self._promise("NVML", self._ask_nvml)
        self._promise(_("the target interpreter"), self._ask_target)
        nodes = self.glob("/dev/nvidia*")
        if nodes:
            self._opening(nodes)
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
            _kind(found.st_mode),
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
        argv = [sys.executable, "-I", "-S", "-c", OPEN_EACH, *map(self.path, paths)]
        done = self._children.run(argv, timeout=min(self._timeout, OPEN_LIMIT))
        said = [] if done is None else done.stdout.splitlines()
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

    def target_answer(self) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = self._promise(_("the target interpreter"), self._ask_target).result()
        return answer

    def require_interpreter(self) -> None:
        """Raise BadInput when the target ran and did not answer as a Python interpreter does.

        One that hangs or crashes is not bad input but something to report.
        """
        try:
            self.target_answer()
        except _NoAnswer as why:
            text = _("{path} does not answer as a Python interpreter: {why}.").format(path=self.target, why=why)
            raise BadInput(text) from why
        except Unavailable:
            return

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

    def _ask_nvml(self) -> Mapping[str, Any]:
        """NVML in a child: a wedged driver blocks in the kernel and a broken one crashes the caller."""
        script = Path(__file__).with_name("probes") / "nvml_child.py"
        done = self._children.run([sys.executable, str(script)], timeout=self._timeout)
        if done is None:
            raise Unavailable(_("{program} could not be started").format(program=sys.executable))
        # The child prints what it knows as it goes, so even one that was killed tells the driver's version.
        answer = _json_answer(done, "NVML", {"state": "crashed"})
        if done.timed_out:
            return {**answer, "state": "timed-out", "error": _did_not_answer("NVML", self._timeout)}
        if answer.get("state") == "crashed":
            return {**answer, "error": _no_answer(done, "NVML")}
        return answer

    def _ask_target(self) -> Mapping[str, Any]:
        script = Path(__file__).with_name("probes") / "target_child.py"
        try:
            done = self._children.run([self.target, "-B", str(script)], timeout=self._timeout)
        except OSError as error:
            raise Unavailable(f"{self.target}: {error.strerror}") from error
        if done is None:
            raise Unavailable(_("there is no interpreter {path}").format(path=self.target))
        if done.timed_out:
            raise Unavailable(_did_not_answer(self.target, self._timeout))
        answer = _json_answer(done, self.target, {})
        if set(answer) == {"error"}:
            by_itself = done.code is not None and done.code >= 0
            raise (_NoAnswer if by_itself else Unavailable)(str(answer["error"]))
        return answer


class _NoAnswer(Unavailable):
    """A program ran to its end and did not answer the question."""


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


def _kind(mode: int) -> str:
    if stat_module.S_ISCHR(mode):
        return "char"
    if stat_module.S_ISDIR(mode):
        return "dir"
    return "file" if stat_module.S_ISREG(mode) else "other"


class RecordedHost(Host):
    """A machine recorded in a folder (DESIGN: "A recorded machine"). What is not there could not be looked at,
    unless `absent.txt` lists its path as seen to be absent."""

    live = False

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        if not self._folder.is_dir():
            raise BadInput(
                _("{folder} is not a folder; --host wants one that `tfdoctor record` wrote.").format(folder=folder)
            )
        self._check_version()
        self._absent = set((self._text("absent.txt") or "").splitlines())
        self._dev = self._text("dev.txt")
        self._elves: Optional[Mapping[str, Any]] = None
        self.target = str(self._json("target.json").get("executable", "python")) if self._has("target.json") else ""

    def _check_version(self) -> None:
        if not any(self._folder.iterdir()):
            raise BadInput(
                _("{folder} is empty; a recording holds files such as nvidia-smi-q.xml or root/proc.").format(
                    folder=self._folder
                )
            )
        if not self._has("recording.json"):
            return
        schema = self._json("recording.json").get("schema")
        if schema != RECORDING_SCHEMA:
            raise BadInput(
                _("{folder} is a recording of schema {found}; this tfdoctor reads schema {known}.").format(
                    folder=self._folder, found=schema, known=RECORDING_SCHEMA
                )
            )

    def _has(self, name: str) -> bool:
        return (self._folder / name).is_file()

    def _text(self, name: str) -> Optional[str]:
        """The text of a part, whatever encoding Windows' `>` gave it; None when the part is not there."""
        path = self._folder / name
        if not path.is_file():
            return None
        data = path.read_bytes()
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        return data.decode(encoding, "replace")

    def _json(self, name: str) -> Mapping[str, Any]:
        text = self._text(name)
        if text is None:
            raise Unavailable(_("the recording has no {name}").format(name=name))
        try:
            value = json.loads(text)
        except ValueError as error:
            raise BadInput(
                _("{path} is not JSON ({error}); delete it or record again.").format(
                    path=self._folder / name, error=error
                )
            ) from error
        if not isinstance(value, dict):
            raise BadInput(_("{path} must hold one JSON object.").format(path=self._folder / name))
        return value

    def _inside(self, path: str) -> Path:
        return self._folder / "root" / path.lstrip("/")

    def _known_absent(self, path: str) -> bool:
        if path in self._absent:
            return True
        # dev.txt names everything in /dev, so a name that is not in it was not there.
        return self._dev is not None and path.startswith("/dev/") and path.count("/") == 2 and not self._dev_name(path)

    def _dev_name(self, path: str) -> Optional[str]:
        """The line of dev.txt for /dev/NAME: a bare name, or a line of `ls -l`."""
        name = path[len("/dev/") :]
        for line in (self._dev or "").splitlines():
            words = line.split()
            if words and words[-1].rpartition("/dev/")[2].rstrip("/") == name:
                return line
        return None

    def _unavailable(self, path: str) -> Unavailable:
        return Unavailable(_("{path} is not in the recording").format(path=path))

    def read_bytes(self, path: str, limit: int = MOST_TEXT) -> Optional[bytes]:
        inside = self._inside(path)
        if inside.is_file():
            with inside.open("rb") as file:
                return file.read(limit)
        if self._known_absent(path):
            return None
        raise self._unavailable(path)

    def read(self, path: str) -> Optional[str]:
        data = self.read_bytes(path)
        return None if data is None else data.decode("utf-8", "replace")

    def glob(self, pattern: str) -> tuple[str, ...]:
        root = self._folder / "root"
        found = [
            "/" + os.path.relpath(p, root).replace(os.sep, "/")
            for p in globbing.glob(str(self._inside(pattern).as_posix()))
        ]
        if self._dev is not None and pattern.startswith("/dev/"):
            names = {w[-1].rpartition("/dev/")[2] for w in map(str.split, self._dev.splitlines()) if w}
            found += [f"/dev/{n}" for n in names if fnmatch.fnmatch(f"/dev/{n}", pattern)]
            return tuple(sorted(set(found)))
        fixed = pattern.split("*", 1)[0].split("[", 1)[0].rpartition("/")[0]
        if not found and not self._inside(fixed).is_dir() and pattern not in self._absent and fixed not in self._absent:
            raise self._unavailable(fixed)
        return tuple(sorted(found))

    def stat(self, path: str) -> Optional[Stat]:
        inside = self._inside(path)
        if inside.exists():
            found = inside.stat()
            return Stat(stat_module.S_IMODE(found.st_mode), 0, 0, found.st_size, _kind(found.st_mode))
        line = self._dev_name(path) if path.startswith("/dev/") else None
        if line is not None:
            return _stat_of_listing(line)
        if self._known_absent(path):
            return None
        raise self._unavailable(path)

    def realpath(self, path: str) -> str:
        links = self.stated("links")
        if isinstance(links, dict) and path in links:
            return str(links[path])
        root = os.path.realpath(self._folder / "root")
        inside = os.path.realpath(self._inside(path))
        return inside[len(root) :].replace(os.sep, "/") if inside.startswith(root + os.sep) else path

    def elf(self, path: str) -> Optional[Elf]:
        """From elf.json (path -> Elf.as_json(), null for none). A file under root/ counts too; one that a recording
        keeps without its content is a library of its own name."""
        if self._elves is None:
            self._elves = self._json("elf.json") if self._has("elf.json") else {}
        if path in self._elves:
            found = self._elves[path]
            return from_json(found) if isinstance(found, dict) else None
        data = self.read_bytes(path)
        if data is None:
            return None
        real = self.realpath(path)
        whole = read_elf(io.BytesIO(data), real)
        return whole if not whole.problem else Elf(real, soname=os.path.basename(path))

    def can_open(self, path: str) -> str:
        tried = self.stated("can_open")
        if not isinstance(tried, dict) or path not in tried:
            raise Unavailable(_("the recording does not tell who could open {path}").format(path=path))
        return str(tried[path])

    def stated(self, what: str) -> Any:
        if not self._has("recording.json"):
            return None
        stated = self._json("recording.json").get("stated")
        return stated.get(what) if isinstance(stated, dict) else None

    def space(self, path: str) -> Optional[Space]:
        sizes = self._json("space.json")
        if path not in sizes:
            raise self._unavailable(path)
        found = sizes[path]
        return None if found is None else Space(int(found["total"]), int(found["free"]))

    def env(self) -> Mapping[str, str]:
        text = self._text("env.txt")
        if text is None:
            raise Unavailable(_("the recording has no env.txt"))
        pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
        return {name.strip(): value for name, _sep, value in pairs}

    def capture(self, name: str) -> Optional[Completed]:
        text = self._text(name)
        if text is not None:
            codes = self.stated("exit_codes")
            code = codes.get(name) if isinstance(codes, dict) else None
            return Completed(text, code=code if isinstance(code, int) else None)
        if name in self._absent:
            return None
        raise Unavailable(_("the recording has no {name}").format(name=name))

    def nvml(self) -> Mapping[str, Any]:
        return self._json("nvml.json")

    def target_answer(self) -> Mapping[str, Any]:
        return self._json("target.json")

    def pip_freeze(self) -> Optional[str]:
        return self._text("pip-freeze.txt")


def _stat_of_listing(line: str) -> Stat:
    """A line of dev.txt. `crw-rw---- 1 root video 195, 0 … nvidia0` tells mode and owner, a bare name only that it is.

    Owner and group come as numbers or as names; root is 0 and every other name -1.
    """
    words = line.split()
    if len(words) < 4 or len(words[0]) < 10:
        return Stat(0o666, 0, 0, 0, "char")
    bits = words[0][1:10]
    mode = sum(1 << (8 - i) for i, c in enumerate(bits) if c not in "-STst")
    kind = {"c": "char", "d": "dir", "-": "file"}.get(words[0][0], "other")
    owner, group = (int(w) if w.isdecimal() else 0 if w == "root" else -1 for w in words[2:4])
    return Stat(mode, owner, group, 0, kind, "" if words[3].isdecimal() else words[3])
