"""Keeps an environment as it was, and puts it back.

Every file of the environment's package folders and of its bin folder is linked (copied where the file system cannot
link) into the run's folder. Package tools replace files and never write into them, so a link keeps the old content
at no cost in space until the new file takes its place; a manifest of sizes and times proves that it does.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from tfdoctor.i18n import _
from tfdoctor.model import BadInput
from tfdoctor.writing import write_atomically

MANIFEST = "manifest.json"  # what was before the run
LEFT = "left.json"  # what the run left behind
OWN = ".tfdoctor"
# Compiled files come and go with every import and prove nothing.
PASSED_OVER = frozenset({"__pycache__", OWN})


@dataclass(frozen=True)
class Restored:
    """What putting back came to: files brought back, files taken away, and what could not be brought back (why)."""

    back: int
    away: int
    problems: tuple[str, ...]


@dataclass(frozen=True)
class _Seen:
    """One file as it was: size in bytes, time of change in ns, mode, and where a symbolic link leads (else None)."""

    size: int
    mtime: int
    mode: int
    target: Optional[str]

    def still(self, path: Path) -> bool:
        """Whether `path` is as it was."""
        try:
            found = path.lstat()
        except OSError:
            return False
        if self.target is not None:
            return path.is_symlink() and str(path.readlink()) == self.target
        return (found.st_size, found.st_mtime_ns) == (self.size, self.mtime)


@dataclass(frozen=True)
class _Manifest:
    """What was kept: `folders` (absolute; `without` are left out), and each file by (folder, path below it)."""

    folders: tuple[Path, ...]
    without: frozenset[str]
    files: dict[tuple[int, str], _Seen]

    def place(self, key: tuple[int, str]) -> Path:
        """Where the file lies in the environment."""
        return self.folders[key[0]] / key[1]

    def now(self) -> Iterator[tuple[int, str]]:
        """What lies in the folders at this moment."""
        for index, folder in enumerate(self.folders):
            for path in _files(folder, self.without):
                yield index, os.path.relpath(path, folder)

    def differences(self) -> list[Path]:
        """The files that came, went or changed."""
        changed = [self.place(key) for key, seen in self.files.items() if not seen.still(self.place(key))]
        return sorted([*changed, *(self.place(key) for key in self.now() if key not in self.files)])


def take(folders: Sequence[Path], into: Path, without: Iterable[Path] = ()) -> int:
    """Keep every file of `folders` below `into`; returns their number. Raises OSError when there is no room."""
    left_out = frozenset(map(str, without))
    files: dict[str, list[object]] = {}
    for index, folder in enumerate(folders):
        made: set[Path] = set()
        for path in _files(folder, left_out):
            name = f"{index}/{os.path.relpath(path, folder)}"
            kept = into / "files" / name
            if kept.parent not in made:
                kept.parent.mkdir(parents=True, exist_ok=True)
                made.add(kept.parent)
            _keep(path, kept)
            files[name] = _seen(path)
    _write(into / MANIFEST, folders, left_out, files)
    return len(files)


def note_what_is_left(kept: Path) -> None:
    """List the same folders as the run leaves them, so that `since` can tell later changes from the run's own."""
    before = _read(kept / MANIFEST)
    files = {f"{key[0]}/{key[1]}": _seen(before.place(key)) for key in before.now()}
    _write(kept / LEFT, before.folders, before.without, files)


def since(kept: Path) -> Optional[tuple[Path, ...]]:
    """The files that came, went or changed after the run; None where it did not note what it left."""
    return tuple(_read(kept / LEFT).differences()) if (kept / LEFT).is_file() else None


def _seen(path: Path) -> list[object]:
    found = path.lstat()
    target = str(path.readlink()) if path.is_symlink() else None
    return [found.st_size, found.st_mtime_ns, found.st_mode & 0o7777, target]


def _write(path: Path, folders: Sequence[Path], without: Iterable[str], files: Mapping[str, list[object]]) -> None:
    content = {"folders": [str(f) for f in folders], "without": sorted(without), "files": files}
    write_atomically(path, json.dumps(content))


def _read(path: Path) -> _Manifest:
    try:
        content = json.loads(path.read_text())
        files = {}
        for name, (size, mtime, mode, target) in content["files"].items():
            index, _slash, below = name.partition("/")
            files[int(index), below] = _Seen(size, mtime, mode, target)
        return _Manifest(tuple(map(Path, content["folders"])), frozenset(content["without"]), files)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            _("{path} is not a readable list of kept files ({error}).").format(path=path, error=error)
        ) from error


def _files(folder: Path, without: frozenset[str]) -> Iterator[Path]:
    """Every file, and every symbolic link whatever it leads to."""
    for here, below, names in os.walk(folder):
        links = [name for name in below if Path(here, name).is_symlink()]
        below[:] = [
            n for n in below if n not in PASSED_OVER and n not in links and os.path.join(here, n) not in without
        ]
        for name in (*names, *links):
            yield Path(here, name)


def _keep(path: Path, kept: Path) -> None:
    if path.is_symlink():
        kept.symlink_to(path.readlink())
        return
    try:
        os.link(path, kept)
    except OSError:  # another file system, or one without links
        shutil.copy2(path, kept)


def put_back(kept: Path) -> Restored:
    """Make the environment what `take` saw. Can be interrupted and run again."""
    manifest = _read(kept / MANIFEST)
    new = [manifest.place(key) for key in manifest.now() if key not in manifest.files]
    for path in new:
        path.unlink()
    problems: list[str] = []
    back = 0
    for key, seen in manifest.files.items():
        path, saved = manifest.place(key), kept / "files" / str(key[0]) / key[1]
        if seen.still(path):
            continue
        if seen.target is None and not seen.still(saved):
            problems.append(_("{path} was changed in place and cannot be brought back").format(path=path))
            continue
        _replace(path, saved, seen.mode)
        back += 1
    for folder in manifest.folders:
        _remove_empty(folder, manifest.without)
    return Restored(back, len(new), tuple(problems))


def differences(kept: Path) -> tuple[str, ...]:
    """The files in which the environment differs from what `take` saw; empty proves that it was restored."""
    return tuple(map(str, _read(kept / MANIFEST).differences()))


def _replace(path: Path, saved: Path, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.tfdoctor-undo")
    with contextlib.suppress(FileNotFoundError):
        beside.unlink()
    _keep(saved, beside)
    beside.replace(path)
    if not path.is_symlink() and path.stat().st_mode & 0o7777 != mode:
        path.chmod(mode)


def _remove_empty(folder: Path, without: frozenset[str]) -> None:
    """Folders that only held new files (and compiled ones) go too: a leftover `name.dist-info` would still be listed."""
    for here, _below, _names in os.walk(folder, topdown=False):
        if any(here == w or here.startswith(w + os.sep) for w in without) or OWN in Path(here).parts:
            continue
        left = set(os.listdir(here))
        if left == {"__pycache__"} and not Path(here, "__pycache__").is_symlink():
            shutil.rmtree(os.path.join(here, "__pycache__"))
            left = set()
        if not left and Path(here) != folder:
            Path(here).rmdir()
