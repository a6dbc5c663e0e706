"""A broken environment without TensorFlow's size: TensorFlow 2.15 (its metadata) beside Keras 3 and NumPy 2."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from wheelhouse import Env, copy_of, fill


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
