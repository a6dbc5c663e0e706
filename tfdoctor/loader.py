"""What glibc's dynamic loader would do on a dlopen: ld.so(8), computed from the files alone.

The order for a name without a slash: objects that are already loaded (by name or soname); DT_RPATH of the calling object,
of those that need it and of the program, unless the calling object has a DT_RUNPATH; LD_LIBRARY_PATH; DT_RUNPATH of the
calling object alone; ld.so.cache; the default folders. A file of another word size or machine is passed over; a file that is
no ELF object ends the search with an error. Before each folder come those below its glibc-hwcaps that the processor can
use. An empty entry of LD_LIBRARY_PATH is the working directory. tests/test_loader.py compares all of this with the real
loader.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Optional

from tfdoctor.elf import Elf
from tfdoctor.host import Host
from tfdoctor.loader_cache import CacheEntry, look_up
from tfdoctor.model import Unavailable

TRIPLETS = {"EM_X86_64": "x86_64-linux-gnu", "EM_AARCH64": "aarch64-linux-gnu", "EM_PPC64": "powerpc64le-linux-gnu"}
TOKENS = re.compile(r"\$(?:\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM))")
LD_LIBRARY_PATH = "LD_LIBRARY_PATH"
CACHE = "ld.so.cache"
DEFAULT = "default folder"
LOADED = "already loaded"


@dataclass(frozen=True)
class Loaded:
    """An object in the process. `loader` is the object that needs it, whose RPATH its own needs inherit (None for one
    that was opened by a call: glibc does not pass the caller's on). `by` names whatever brought it in, for messages."""

    path: str
    elf: Elf
    loader: Optional[Loaded] = None
    by: str = ""

    @property
    def name(self) -> str:
        """Its file's name."""
        return posixpath.basename(self.path)


@dataclass(frozen=True)
class Hit:
    """A file that the search ended at, and the step that found it. `path` is as the loader would spell it."""

    path: str
    elf: Elf
    how: str


@dataclass(frozen=True)
class Opened:
    """What a dlopen came to. `hit` None: found nowhere. `missing`: names that it or its dependencies need and that are
    found nowhere, or "NAME (why the loader refuses the file)"; then the call fails although the file itself is there."""

    hit: Optional[Hit]
    missing: tuple[str, ...] = ()


class Loader:
    """The loader of one process, which remembers what it has loaded."""

    def __init__(
        self,
        host: Host,
        machine: str,
        bits: int,
        library_path: str = "",
        cache: Sequence[CacheEntry] = (),
        hwcaps: Sequence[str] = (),
        program: Optional[Loaded] = None,
        here: str = "",
    ) -> None:
        """`machine` as in Elf; `library_path` is the value of LD_LIBRARY_PATH; `program` is the executable; `hwcaps` as
        of `usable_hwcaps`, best first; `here` is the working directory ("" not known: empty entries are passed over)."""
        self._host, self._machine, self._bits = host, machine, bits
        self._cache, self._hwcaps, self._program = cache, hwcaps, program
        folder = posixpath.dirname(program.path) if program is not None else ""
        entries = [entry or here for entry in re.split("[:;]", library_path)] if library_path else []
        self.library_path = tuple(posixpath.join(here, self._expand(entry, folder)) for entry in entries if entry)
        self.default = default_folders(host, machine)
        self._loaded: dict[str, Loaded] = {}
        self._below: dict[str, tuple[str, ...]] = {}

    def is_loaded(self, name: str) -> Optional[Loaded]:
        """The object that satisfies `name` already."""
        return self._loaded.get(name)

    def assume(self, names: Iterable[str], by: Loaded) -> None:
        """These are in the process whatever their files are (the C library)."""
        for name in names:
            self._loaded.setdefault(name, Loaded(name, Elf(name), by=by.name))

    def put(self, entry: Loaded) -> None:
        """This object is in the process."""
        self._loaded.setdefault(entry.name, entry)
        if entry.elf.soname:
            self._loaded.setdefault(entry.elf.soname, entry)

    def open(self, name: str, caller: Loaded) -> Opened:
        """dlopen(name) from `caller`. What it loads stays loaded, unless it fails. Raises Unavailable."""
        have = self.is_loaded(name)
        if have is not None:
            return Opened(Hit(have.path, have.elf, _loaded_by(have)))
        before = dict(self._loaded)
        hit = self.find(name, caller)
        if hit is None:
            return Opened(None)
        if hit.elf.problem:
            return Opened(hit, (f"{name} ({hit.elf.problem})",))
        missing = tuple(self._bring_in(name, hit, caller))
        if missing:
            self._loaded = before
        return Opened(hit, missing)

    def _bring_in(self, name: str, hit: Hit, caller: Loaded) -> Iterator[str]:
        """Load `hit` and, breadth first as glibc does, what it needs; yields what cannot be had."""
        first = Loaded(hit.path, hit.elf, by=caller.name)
        self._loaded[name] = first
        self.put(first)
        queue = [first]
        while queue:
            entry = queue.pop(0)
            for need in entry.elf.needed:
                if self.is_loaded(need) is not None:
                    continue
                found = self.find(need, entry)
                if found is None or found.elf.problem:
                    self.assume([need], entry)  # told once
                    yield need if found is None else f"{need} ({found.elf.problem})"
                    continue
                brought = Loaded(found.path, found.elf, entry, entry.name)
                self._loaded[need] = brought
                self.put(brought)
                queue.append(brought)

    def find(self, name: str, caller: Loaded) -> Optional[Hit]:
        """The file that the search ends at, without loading it."""
        if "/" in name:
            return self._at([name], "its path")
        for folders, how in self._steps(caller):
            hit = self._first(name, folders, how)
            if hit is not None:
                return hit
        return self._by_default(name, caller)

    def search_path(self, caller: Loaded) -> tuple[str, ...]:
        """The folders that a search from `caller` goes through, in order (ld.so.cache apart)."""
        folders = [folder for group, _how in self._steps(caller) for folder in group]
        return tuple(dict.fromkeys((*folders, *self.default)))

    def _steps(self, caller: Loaded) -> Iterator[tuple[list[str], str]]:
        if not caller.elf.runpath:
            for entry in self._chain(caller):
                yield self._expanded(entry, entry.elf.rpath), f"RPATH of {entry.name}"
        yield list(self.library_path), LD_LIBRARY_PATH
        yield self._expanded(caller, caller.elf.runpath), f"RUNPATH of {caller.name}"

    def _chain(self, caller: Loaded) -> Iterator[Loaded]:
        """The calling object, those that needed it, and last the program."""
        entry: Optional[Loaded] = caller
        while entry is not None:
            yield entry
            entry = entry.loader
        if self._program is not None:
            yield self._program

    def _by_default(self, name: str, caller: Loaded) -> Optional[Hit]:
        if caller.elf.no_default:
            return None
        cached = look_up(self._cache, name, self._machine, self._hwcaps)
        if cached is not None:
            elf = self._host.elf(cached.path)
            if elf is not None and self._fits(elf):
                return Hit(cached.path, elf, CACHE)
        return self._first(name, self.default, DEFAULT)

    def _first(self, name: str, folders: Iterable[str], how: str) -> Optional[Hit]:
        unlike = dict.fromkeys(folders)
        return self._at(
            (posixpath.join(place, name) for folder in unlike for place in (*self._capable(folder), folder)), how
        )

    def _at(self, paths: Iterable[str], how: str) -> Optional[Hit]:
        for path in paths:
            elf = self._host.elf(path)
            if elf is not None and self._fits(elf):
                return Hit(path, elf, how)
        return None

    def _capable(self, folder: str) -> tuple[str, ...]:
        """The folders below this one's glibc-hwcaps that the loader goes through first; hardly any folder has some."""
        if self._hwcaps and folder not in self._below:
            base = posixpath.join(folder, "glibc-hwcaps")
            try:
                there = self._host.stat(base) is not None
            except Unavailable:
                there = False  # whoever could not look at this folder is told so at the file itself
            self._below[folder] = tuple(posixpath.join(base, name) for name in self._hwcaps) if there else ()
        return self._below.get(folder, ())

    def _fits(self, elf: Elf) -> bool:
        """Does the loader stop here? It passes over other word sizes and machines and over what it may not open."""
        if elf.problem == "Permission denied":
            return False
        return bool(elf.problem) or not elf.bits or (elf.bits, elf.machine) == (self._bits, self._machine)

    def _expanded(self, owner: Loaded, entries: Sequence[str]) -> list[str]:
        return [self._expand(entry, posixpath.dirname(owner.path)) for entry in entries]

    def _expand(self, entry: str, origin: str) -> str:
        """Replace $ORIGIN, $LIB and $PLATFORM, with or without braces."""
        triplet = TRIPLETS.get(self._machine, "")
        values = {"ORIGIN": origin, "LIB": f"lib/{triplet}", "PLATFORM": triplet.partition("-")[0]}
        expanded = TOKENS.sub(lambda m: values[m.group(1) or m.group(2)], entry)
        return posixpath.normpath(expanded)


def _loaded_by(entry: Loaded) -> str:
    return f"{LOADED} for {entry.by}" if entry.by else LOADED


def default_folders(host: Host, machine: str) -> tuple[str, ...]:
    """The folders that are built into the loader: Debian and its kin have one for each architecture, others /lib64."""
    triplet = TRIPLETS.get(machine, "")
    ours: tuple[str, ...] = (f"/lib/{triplet}", f"/usr/lib/{triplet}") if triplet else ()
    others = ("/lib64", "/usr/lib64")
    try:
        debian = bool(ours) and host.stat(f"/usr/lib/{triplet}") is not None
    except Unavailable:
        return (*ours, *others, "/lib", "/usr/lib")  # cannot tell: none has the other's folders
    return (*(ours if debian else others), "/lib", "/usr/lib")
