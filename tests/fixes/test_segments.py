"""Only stale segments of this user are deleted, and each is looked at again just before."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

from tfdoctor.fixes import segments


def segment(folder: Path, name: str = "nccl-abc") -> Path:
    path = folder / name
    path.write_bytes(b"\0" * 4096)
    return path


def test_a_stale_one_goes(tmp_path: Path) -> None:
    path = segment(tmp_path)
    assert segments.delete([str(path)], str(tmp_path)) == (str(path),)
    assert not path.exists()


def test_one_that_came_to_be_used_stays(tmp_path: Path) -> None:
    open_one, mapped = segment(tmp_path, "nccl-open"), segment(tmp_path, "nccl-mapped")
    handle = os.open(mapped, os.O_RDWR)
    view = mmap.mmap(handle, 4096)
    os.close(handle)  # only the map is left
    with open_one.open("rb"):
        assert segments.delete([str(open_one), str(mapped)], str(tmp_path)) == ()
    view.close()
    assert open_one.exists()
    assert mapped.exists()


def test_nothing_else_is_ever_deleted(tmp_path: Path) -> None:
    other, below = segment(tmp_path, "torch_1"), tmp_path / "sub"
    below.mkdir()
    inner = segment(below)
    link = tmp_path / "nccl-link"
    link.symlink_to(other)
    named = [str(other), str(inner), str(link), str(tmp_path / "sub/../torch_1"), str(tmp_path / "nccl-gone")]
    assert segments.delete(named, str(tmp_path)) == ()
    assert other.exists()
    assert inner.exists()
    assert link.is_symlink()
