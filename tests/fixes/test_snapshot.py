"""A snapshot puts an environment back exactly, also after package tools replaced, added and removed files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tfdoctor.fixes import snapshot


def listing(root: Path) -> dict[str, str]:
    """Every file below `root` (ours and compiled ones aside) -> hash, or where it links to."""
    found = {}
    for path in root.rglob("*"):
        if ".tfdoctor" in path.parts or "__pycache__" in path.parts or path.is_dir():
            continue
        name = str(path.relative_to(root))
        found[name] = str(path.readlink()) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    site = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    for name, text in {
        "tensorflow/__init__.py": "version = 1",
        "tensorflow-1.dist-info/RECORD": "…",
        "numpy/core.py": "x",
        "empty/__init__.py": "",
    }.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    (site / "link").symlink_to("numpy/core.py")
    script = tmp_path / "env" / "bin" / "saved_model_cli"
    script.parent.mkdir()
    script.write_text("#!")
    script.chmod(0o755)
    return tmp_path / "env"


def keep(environment: Path) -> Path:
    kept = environment / ".tfdoctor" / "run"
    kept.mkdir(parents=True)
    site = environment / "lib" / "python3.11" / "site-packages"
    snapshot.take((site, environment / "bin"), kept)
    return kept


def damage(environment: Path) -> None:
    """What an upgrade does: new files in place of old ones, others gone, others new."""
    site = environment / "lib" / "python3.11" / "site-packages"
    new = site / "tensorflow" / "new"
    new.write_text("version = 2")
    new.replace(site / "tensorflow" / "__init__.py")
    (site / "tensorflow-1.dist-info" / "RECORD").unlink()
    (site / "tensorflow-1.dist-info").rmdir()
    (site / "tensorflow-2.dist-info" / "__pycache__").mkdir(parents=True)
    (site / "tensorflow-2.dist-info" / "RECORD").write_text("…")
    (site / "tensorflow-2.dist-info" / "__pycache__" / "x.pyc").write_text("…")
    (site / "link").unlink()
    (environment / "bin" / "saved_model_cli").unlink()


def test_everything_comes_back(environment: Path) -> None:
    before = listing(environment)
    kept = keep(environment)
    damage(environment)
    assert snapshot.differences(kept)
    restored = snapshot.put_back(kept)
    assert restored.problems == ()
    assert listing(environment) == before
    assert snapshot.differences(kept) == ()
    assert os.access(environment / "bin" / "saved_model_cli", os.X_OK)
    assert not (environment / "lib" / "python3.11" / "site-packages" / "tensorflow-2.dist-info").exists()


def test_a_second_time_does_nothing(environment: Path) -> None:
    kept = keep(environment)
    damage(environment)
    snapshot.put_back(kept)
    again = snapshot.put_back(kept)
    assert (again.back, again.away) == (0, 0)


def test_links_cost_no_space(environment: Path) -> None:
    kept = keep(environment)
    name = "lib/python3.11/site-packages/numpy/core.py"
    below = name.partition("site-packages/")[2]
    assert (environment / name).stat().st_ino == (kept / "files" / "0" / below).stat().st_ino


def test_a_file_changed_in_place_is_told_of(environment: Path) -> None:
    kept = keep(environment)
    with (environment / "lib" / "python3.11" / "site-packages" / "numpy" / "core.py").open("a") as file:
        file.write("changed")
    restored = snapshot.put_back(kept)
    assert len(restored.problems) == 1
    assert "numpy/core.py" in restored.problems[0]
