"""Deletes shared-memory segments of dead processes, each looked at again just before."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Optional

FOLDER = "/dev/shm"
PREFIX = "nccl-"


def delete(paths: Iterable[str], folder: str = FOLDER, proc: str = "/proc") -> tuple[str, ...]:
    """Delete those of `paths` that are segments of this user which no process has mapped or open; returns them.

    What has come to be used, or is no such segment, is left alone. Raises OSError when one cannot be deleted."""
    deleted = []
    for path in paths:
        mine = _segment(path, folder)
        if mine is None or _used(mine, proc):
            continue
        Path(path).unlink()
        deleted.append(path)
    return tuple(deleted)


def _segment(path: str, folder: str) -> Optional[os.stat_result]:
    """The file, when it is one of this user's own NCCL segments directly in the folder."""
    place = Path(path)
    if str(place.parent) != folder or not place.name.startswith(PREFIX):
        return None
    try:
        found = place.lstat()
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() else None


def _used(segment: os.stat_result, proc: str) -> bool:
    """Whether a process has it mapped or open, by device and inode. Only this user's processes can have it, and root's."""
    for process in Path(proc).glob("[0-9]*"):
        for kind in ("map_files", "fd"):
            try:
                entries = list((process / kind).iterdir())
            except OSError:
                continue  # ended meanwhile, or another user's
            for entry in entries:
                try:
                    found = entry.stat()
                except OSError:
                    continue
                if (found.st_dev, found.st_ino) == (segment.st_dev, segment.st_ino):
                    return True
        if _mapped(process, segment):
            return True
    return False


def _mapped(process: Path, segment: os.stat_result) -> bool:
    """map_files needs a capability that most users lack; maps has the inode too."""
    try:
        lines = (process / "maps").read_text().splitlines()
    except OSError:
        return False
    return any(len(parts := line.split()) > 5 and parts[4] == str(segment.st_ino) for line in lines)
