"""Writes a scrubbed recording of a machine: what every probe looked at, as they saw it.

The probes run over a host that passes everything on and notes it; then the notes are scrubbed and written. So a
recording holds exactly what a check needs, and a new probe is recorded without a word here.
"""

from __future__ import annotations

import json
import posixpath
import shutil
import stat as stat_module
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, Optional

from tfdoctor import __version__, recorded_files
from tfdoctor.children import Completed, Promise
from tfdoctor.elf import Elf
from tfdoctor.engine import Facts
from tfdoctor.host import CAPTURES, MOST_TEXT, RECORDING_SCHEMA, Host, LiveHost, Space, Stat
from tfdoctor.i18n import _
from tfdoctor.model import BadInput, NotApplicable, Unavailable
from tfdoctor.probes.environment import reduced
from tfdoctor.probes.fabric import PID_FILES, Fabric
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.probes.kernel_driver import KernelModuleFile
from tfdoctor.probes.looking import if_told
from tfdoctor.probes.platform import Platform, Shm
from tfdoctor.scrub import Scrubber

LOGS = ("dmesg.txt", "journal.txt")  # two sources of one log
KEEP = ".keep"  # in an empty folder, because archives and version control forget empty folders


@dataclass
class Notes:
    """What was looked at, by the machine's own paths. None: seen to be absent."""

    files: dict[str, Optional[bytes]] = field(default_factory=dict)
    stats: dict[str, Optional[Stat]] = field(default_factory=dict)
    globs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    opened: dict[str, str] = field(default_factory=dict)
    spaces: dict[str, Optional[Space]] = field(default_factory=dict)
    elves: dict[str, Optional[Elf]] = field(default_factory=dict)
    cuda: Optional[Mapping[str, Any]] = None  # what came of starting CUDA, where it was tried


class NotingHost(Host):
    """Passes every question on to `inner` and notes the answer."""

    live = True

    def __init__(self, inner: LiveHost) -> None:
        self.inner = inner
        self.target = inner.target
        self.notes = Notes()

    def read_bytes(self, path: str, limit: int = MOST_TEXT) -> Optional[bytes]:
        data = self.inner.read_bytes(path, limit)
        before = self.notes.files.get(path)
        if data is None or before is None or len(data) > len(before):
            self.notes.files[path] = data
        return data

    def read(self, path: str) -> Optional[str]:
        data = self.read_bytes(path)
        return None if data is None else data.decode("utf-8", "replace")

    def glob(self, pattern: str) -> tuple[str, ...]:
        return self.notes.globs.setdefault(pattern, self.inner.glob(pattern))

    def stat(self, path: str) -> Optional[Stat]:
        return self.notes.stats.setdefault(path, self.inner.stat(path))

    def realpath(self, path: str) -> str:
        return self.notes.links.setdefault(path, self.inner.realpath(path))

    def elf(self, path: str) -> Optional[Elf]:
        return self.notes.elves.setdefault(path, self.inner.elf(path))

    def can_open(self, path: str) -> str:
        return self.notes.opened.setdefault(path, self.inner.can_open(path))

    def space(self, path: str) -> Optional[Space]:
        return self.notes.spaces.setdefault(path, self.inner.space(path))

    def env(self) -> Mapping[str, str]:
        return self.inner.env()

    def capture(self, name: str) -> Optional[Completed]:
        return self.inner.capture(name)

    def nvml(self) -> Mapping[str, Any]:
        return self.inner.nvml()

    def cuda(self) -> Mapping[str, Any]:
        self.notes.cuda = self.inner.cuda()
        return self.notes.cuda

    def target_answer(self) -> Mapping[str, Any]:
        return self.inner.target_answer()

    def pip_freeze(self) -> Optional[str]:
        return self.inner.pip_freeze()

    def waiting_for(self) -> tuple[str, ...]:
        return self.inner.waiting_for()

    def close(self) -> None:
        self.inner.close()


def record(live: LiveHost, folder: str) -> tuple[str, ...]:
    """Record `live` in `folder`, which must be new or empty. Returns the names of the parts that were written.

    Raises BadInput when the folder cannot be used. Nothing is left when it is interrupted.
    """
    from tfdoctor.checkup import facts_of

    check_folder(folder)
    # What could not be looked at is left out: a recording that lacks the part says the same.
    asked = [Promise(name, partial(if_told, live.capture, name)) for name in CAPTURES]
    host = NotingHost(live)
    facts = facts_of(host)
    facts.look_at_all()
    captures = dict(zip(CAPTURES, (promise.result() for promise in asked)))
    recording = _Recording(host, facts, captures)
    with _new_folder(folder) as under_way:
        recording.write(under_way)
        return tuple(sorted(p.name for p in under_way.iterdir()))


def check_folder(folder: str) -> None:
    """Raises BadInput unless `folder` can become a recording."""
    path = Path(folder)
    if path.is_dir():
        if any(path.iterdir()):
            raise BadInput(
                _("{folder} is not empty; `tfdoctor record` wants a new or an empty folder.").format(folder=folder)
            )
    elif path.exists() or path.is_symlink():
        raise BadInput(_("{folder} is a file; `tfdoctor record` wants a new or an empty folder.").format(folder=folder))
    elif not path.absolute().parent.is_dir():
        parent = path.absolute().parent
        raise BadInput(
            _("{parent} is not a folder; {folder} can only be made in one that exists.").format(
                parent=parent, folder=folder
            )
        )


@contextmanager
def _new_folder(folder: str) -> Iterator[Path]:
    """A folder beside `folder` that takes its name when all went well and is gone otherwise."""
    final = Path(folder).absolute()
    try:
        under_way = Path(tempfile.mkdtemp(prefix=f".{final.name}-", dir=final.parent))
    except OSError as error:
        raise BadInput(_("{folder} cannot be written: {why}.").format(folder=folder, why=error.strerror)) from error
    try:
        yield under_way
        if final.is_dir():
            final.rmdir()
        under_way.rename(final)
    except BaseException:
        shutil.rmtree(under_way, ignore_errors=True)
        raise


class _Recording:
    """The parts of one recording, scrubbed."""

    def __init__(self, host: NotingHost, facts: Facts, captures: Mapping[str, Optional[Completed]]) -> None:
        self._host, self._facts, self._notes = host, facts, host.notes
        self._scrub = Scrubber.of(host.inner)
        self._captures = {n: c for n, c in captures.items() if c is not None}
        self._programs_absent = [n for n in CAPTURES if n not in self._captures and _lacks(host.inner, n)]
        self._nvml = if_told(host.nvml)
        self._target = if_told(host.target_answer)
        self._environment = reduced(if_told(host.env) or {})
        for known in (self._nvml, self._target, self._environment):
            self._scrub.learn_value(known)
        for done in self._captures.values():
            self._scrub.learn(done.stdout)

    def write(self, folder: Path) -> None:
        """Write every part that there is."""
        self._write_root(folder / "root")
        for name, text in self._parts():
            (folder / name).write_bytes(text.encode("utf-8", "replace"))

    def _parts(self) -> Iterator[tuple[str, str]]:
        for name, printed in self._printed():
            yield name, self._scrub.text(recorded_files.CAPTURES.get(name, str)(printed))
        if self._nvml is not None:
            yield "nvml.json", _json(self._scrub.value(self._nvml))
        if self._notes.cuda is not None:
            yield "cuda.json", _json(self._scrub.value(self._notes.cuda))
        if self._target is not None:
            yield "target.json", _json(self._scrub.value(self._target))
        modinfo = self._modinfo()
        if modinfo:
            yield "modinfo.txt", modinfo
        yield "env.txt", self._environment_text()
        yield "dev.txt", "".join(f"{line}\n" for line in self._device_lines())
        yield "space.json", _json({p: asdict(s) if s else None for p, s in self._notes.spaces.items()})
        yield (
            "elf.json",
            _json(
                {
                    self._scrub.text(p): self._scrub.value(e.as_json()) if e else None
                    for p, e in self._notes.elves.items()
                }
            ),
        )
        installed = self._fact(Distributions)
        if installed is not None:
            yield "pip-freeze.txt", _freeze(installed)
        yield "absent.txt", "".join(f"{path}\n" for path in sorted(self._absent()))
        yield "recording.json", _json(self._about())

    def _printed(self) -> Iterator[tuple[str, str]]:
        """What each program printed. The kernel's log is dmesg's, or the journal's where dmesg was not allowed."""
        dmesg, journal = (self._captures.get(name) for name in LOGS)
        if dmesg is not None and dmesg.code == 0:
            yield "dmesg.txt", dmesg.stdout
        elif journal is not None and journal.code == 0 and journal.stdout.strip():
            yield "dmesg.txt", journal.stdout
        for name, done in self._captures.items():
            if name not in LOGS:
                yield name, done.stdout if done.stdout.strip() else done.stderr

    def _environment_text(self) -> str:
        clean = self._scrub.value({name: " ".join(value.splitlines()) for name, value in self._environment.items()})
        return "".join(f"{name}={value}\n" for name, value in clean.items())

    def _modinfo(self) -> str:
        """Where modinfo said nothing, what was read in the module's own file."""
        told = self._fact(KernelModuleFile)
        said = self._captures.get("modinfo.txt")
        if told is None or not told.version or (said is not None and "version:" in said.stdout):
            return ""
        signer = f"signer: {told.signer}\n" if told.signer else ""
        return self._scrub.text(f"filename: {told.path}\nversion: {told.version}\n{signer}")

    def _device_lines(self) -> Iterator[str]:
        """As `ls -ln` prints them: everything of /dev itself, so that a name that is not there was not there."""
        for path in if_told(self._host.inner.glob, "/dev/*") or ():
            stat = if_told(self._host.inner.stat, path)
            if stat is not None and (stat.kind == "char" or path in self._notes.stats):
                letter = {"char": "c", "dir": "d", "file": "-"}.get(stat.kind, "?")
                bits = stat_module.filemode(stat.mode)[1:]
                yield f"{letter}{bits} 1 {stat.uid} {stat.gid} {self._scrub.text(path)}"

    def _absent(self) -> set[str]:
        notes = self._notes
        paths = {p for p, data in notes.files.items() if data is None}
        paths |= {p for p, stat in notes.stats.items() if stat is None}
        paths |= {pattern for pattern, found in notes.globs.items() if not found}
        paths |= set(self._programs_absent)
        fabric = self._fact(Fabric)
        paths |= set(PID_FILES) if fabric is not None and fabric.running is False else set()
        return {self._scrub.text(p) for p in paths if not recorded_files.NEVER.fullmatch(p)}

    def _about(self) -> dict[str, Any]:
        platform, shm = self._fact(Platform), self._fact(Shm)
        stated: dict[str, Any] = {
            "can_open": self._notes.opened,
            "links": {self._scrub.text(a): self._scrub.text(b) for a, b in self._notes.links.items() if a != b},
            "exit_codes": {n: c.code for n, c in self._captures.items() if c.code is not None and n not in LOGS},
        }
        if platform is not None:
            names = ("system", "machine", "kernel", "distro", "distro_version", "libc", "libc_version")
            stated["platform"] = {name: getattr(platform, name) for name in names}
        if shm is not None:
            stated["shm"] = {"stale": [self._scrub.text(p) for p in shm.stale], "stale_bytes": shm.stale_bytes}
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        return {"schema": RECORDING_SCHEMA, "tfdoctor": __version__, "created": now, "stated": stated}

    def _fact(self, kind: type[Any]) -> Any:
        try:
            return self._facts.get(kind)
        except (Unavailable, NotApplicable):
            return None

    def _write_root(self, root: Path) -> None:
        root.mkdir()
        files = {p: d for p, d in self._notes.files.items() if d is not None}
        fabric = self._fact(Fabric)
        if fabric is not None and fabric.running:
            files[PID_FILES[0]] = b""
        groups = {s.gid for s in self._notes.stats.values() if s is not None}
        others = {p for found in self._notes.globs.values() for p in found} | {
            p for p, s in self._notes.stats.items() if s
        }
        for path, data in files.items():
            if self._may_keep(path):
                self._place(root, path).write_bytes(recorded_files.kept(path, data, self._scrub, groups))
        for path in sorted(others - set(files)):
            stat = self._notes.stats.get(path) or if_told(self._host.inner.stat, path)
            if not self._may_keep(path) or stat is None:
                continue
            if stat.kind == "dir":
                folder = self._place(root, path)
                folder.mkdir(exist_ok=True)
                (folder / KEEP).touch()
            else:
                self._place(root, path).touch()

    def _may_keep(self, path: str) -> bool:
        return path.startswith("/") and not path.startswith("/dev/") and not recorded_files.NEVER.fullmatch(path)

    def _place(self, root: Path, path: str) -> Path:
        """Where a file of the machine lies in the recording; its folder is made."""
        clean = posixpath.normpath(self._scrub.text(path)).lstrip("/")
        place = root / clean
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


def _freeze(installed: Distributions) -> str:
    return "".join(sorted(f"{d.name}=={d.version}\n" for d in installed.by_name.values() if d.version))


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _lacks(host: Host, name: str) -> bool:
    """Is there no such program (and not merely no answer)?"""
    try:
        return host.capture(name) is None
    except Unavailable:
        return False
