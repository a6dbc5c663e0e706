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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tfdoctor.i18n import _
from tfdoctor.writing import write_atomically

MANIFEST = "manifest.json"
OWN = ".tfdoctor"
# Compiled files come and go with every import and prove nothing.
PASSED_OVER = frozenset({"__pycache__", OWN})


@dataclass(frozen=True)
class Restored:
    """What putting back came to: files brought back, files taken away, and what could not be brought back (why)."""

    back: int
    away: int
    problems: tuple[str, ...]


def take(folders: tuple[Path, ...], prefix: str, into: Path) -> int:
    """Keep every file of `folders` below `into`; returns their number. Raises OSError when there is no room."""
    manifest: dict[str, list[object]] = {}
    for path in _files(folders):
        name = os.path.relpath(path, prefix)
        kept = into / "files" / name
        kept.parent.mkdir(parents=True, exist_ok=True)
        _keep(path, kept)
        found = path.lstat()
        target = str(path.readlink()) if path.is_symlink() else None
        manifest[name] = [found.st_size, found.st_mtime_ns, found.st_mode & 0o7777, target]
    content = {"folders": [os.path.relpath(f, prefix) for f in folders], "files": manifest}
    write_atomically(into / MANIFEST, json.dumps(content))
    return len(manifest)


def _files(folders: tuple[Path, ...]) -> Iterator[Path]:
    for folder in folders:
        for here, below, names in os.walk(folder):
            below[:] = [name for name in below if name not in PASSED_OVER and not Path(here, name).is_symlink()]
            for name in names:
                yield Path(here, name)


def _keep(path: Path, kept: Path) -> None:
    if path.is_symlink():
        kept.symlink_to(path.readlink())
        return
    try:
        os.link(path, kept)
    except OSError:  # another file system, or one without links
        shutil.copy2(path, kept)


def put_back(prefix: str, kept: Path) -> Restored:
    """Make the environment what `take` saw. Can be interrupted and run again."""
    manifest = json.loads((kept / MANIFEST).read_text())
    root = Path(prefix)
    problems: list[str] = []
    away = _take_away(root, tuple(root / f for f in manifest["folders"]), set(manifest["files"]))
    back = 0
    for name, (size, mtime, mode, target) in manifest["files"].items():
        path, saved = root / name, kept / "files" / name
        if _same(path, size, mtime, target):
            continue
        if target is None and not _same(saved, size, mtime, None):
            problems.append(_("{name} was changed in place and cannot be brought back").format(name=name))
            continue
        _replace(path, saved, mode)
        back += 1
    _remove_empty(tuple(root / f for f in manifest["folders"]))
    return Restored(back, away, tuple(problems))


def differences(prefix: str, kept: Path) -> tuple[str, ...]:
    """The files in which the environment differs from what `take` saw; empty proves that it was restored."""
    manifest = json.loads((kept / MANIFEST).read_text())
    root = Path(prefix)
    changed = [n for n, (size, mtime, _mode, to) in manifest["files"].items() if not _same(root / n, size, mtime, to)]
    now = {os.path.relpath(p, prefix) for p in _files(tuple(root / f for f in manifest["folders"]))}
    return tuple(sorted([*changed, *(now - set(manifest["files"]))]))


def _same(path: Path, size: int, mtime: int, target: object) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    if target is not None:
        return path.is_symlink() and str(path.readlink()) == target
    return (found.st_size, found.st_mtime_ns) == (size, mtime)


def _take_away(root: Path, folders: tuple[Path, ...], known: set[str]) -> int:
    new = [path for path in _files(folders) if os.path.relpath(path, root) not in known]
    for path in new:
        path.unlink()
    return len(new)


def _replace(path: Path, saved: Path, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.tfdoctor-undo")
    with contextlib.suppress(FileNotFoundError):
        beside.unlink()
    _keep(saved, beside)
    beside.replace(path)
    if not path.is_symlink():
        path.chmod(mode)


def _remove_empty(folders: tuple[Path, ...]) -> None:
    """Folders that only held new files (and compiled ones) go too: a leftover `name.dist-info` would still be listed."""
    for folder in folders:
        for here, _below, _names in os.walk(folder, topdown=False):
            left = set(os.listdir(here))
            if left == {"__pycache__"}:
                shutil.rmtree(os.path.join(here, "__pycache__"))
                left = set()
            if not left and Path(here) != folder:
                Path(here).rmdir()
