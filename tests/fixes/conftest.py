"""A broken environment without TensorFlow's size: TensorFlow 2.15 (its metadata) beside Keras 3 and NumPy 2."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from wheelhouse import Env, copy_of, fill, link


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Env]:
    folder = tmp_path_factory.mktemp("template")
    env = Env(folder / "env", fill(folder / "index"))
    subprocess.run([sys.executable, "-m", "venv", str(env.root)], check=True, capture_output=True)
    assert env.pip("install", "tensorflow-cpu==2.15.1").returncode == 0
    assert env.pip("install", "--no-deps", "keras==3.3.3", "numpy==2.1.0").returncode == 0
    before = env.listing()
    yield env
    assert env.listing() == before, "a file that other environments share was written in place"


@pytest.fixture
def env(template: Env, tmp_path: Path) -> Env:
    return copy_of(template, tmp_path / "env")


@pytest.fixture
def relocated_python(template: Env, tmp_path: Path) -> Env:
    """A Python of its own with nothing but pip, as a container or conda has one: no virtual environment."""
    base = Path(sys.base_prefix)
    if base == Path("/usr") or not (base / "bin" / "python3").exists():
        pytest.skip("this Python cannot be put elsewhere")
    made = Env(tmp_path / "python", template.index)
    ignored = shutil.ignore_patterns("__pycache__", "site-packages", "test", "EXTERNALLY-MANAGED", "share")
    try:
        shutil.copytree(base, made.root, symlinks=True, copy_function=link, ignore=ignored)
    except (OSError, shutil.Error):
        pytest.skip("this Python cannot be linked elsewhere")
    for name in ("python", "python3"):
        if not (made.root / "bin" / name).exists():
            (made.root / "bin" / name).symlink_to(f"python3.{sys.version_info.minor}")
    (made.root / "lib" / f"python3.{sys.version_info.minor}" / "site-packages").mkdir()
    asked = [str(made.python), "-c", "import sys; print(sys.prefix)"]
    prefix = subprocess.run(asked, capture_output=True, text=True, check=False, env=made.variables).stdout.strip()
    if prefix != str(made.root):
        pytest.skip("this Python cannot be put elsewhere")
    subprocess.run([str(made.python), "-m", "ensurepip"], check=True, capture_output=True, env=made.variables)
    return made
