"""`fix` over environments that are really broken: TensorFlow is imported afterwards, and everything is undone.

They share few builds. Each test gets a hard-linked copy, as uv makes one from its cache, and breaks it in its own way;
that the build itself never changes proves that no file is written in place.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from real_environments import Environments, check, imports
from wheelhouse import Env, copy_of

pytestmark = pytest.mark.real

Build = Callable[..., Env]


SMALL = 1024 * 1024  # bytes; larger files are compared by size and time of change


def digest(root: Path) -> str:
    """One hash over all files of an environment, compiled ones aside."""
    whole = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts:
            found = path.stat()
            content = path.read_bytes() if found.st_size < SMALL else b""
            whole.update(f"{path.relative_to(root)} {found.st_size} {found.st_mtime_ns} ".encode() + content)
    return whole.hexdigest()


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Environments:
    return Environments(tmp_path_factory.mktemp("fixed"))


@pytest.fixture(scope="session")
def untouched() -> Iterator[dict[Path, str]]:
    built: dict[Path, str] = {}
    yield built
    for root, before in built.items():
        assert digest(root) == before, f"a file of {root} was written in place"


@pytest.fixture
def build(environments: Environments, untouched: dict[Path, str], tmp_path: Path) -> Build:
    def make(name: str, python: str, *requirements: str) -> Env:
        interpreter = environments.get(name, python, *requirements)
        root = interpreter.parent.parent
        if root not in untouched:
            imports(interpreter)  # compiles it, once for all copies
            untouched[root] = digest(root)
        return copy_of(Env(root, root, offline=False), tmp_path / "env")

    return make


@pytest.fixture
def tf215(build: Build) -> Env:
    return build("tf215", "3.11", "tensorflow==2.15.1")


def fixed_and_undone(env: Env, *codes: str, ask: bool = False) -> None:
    """The fault is gone, TensorFlow is imported, nothing more is to be done; and then all is as it was."""
    frozen, before = env.freeze(), digest(env.root)
    assert "imported" not in imports(env.python).stdout or codes[0] == "TFD513"
    assert set(codes) <= check(env.python).codes.keys()
    done = env.fix("--yes", *(("--include", "ask") if ask else ()))
    assert done.returncode == 0, done.stdout + done.stderr
    assert not set(codes) & check(env.python).codes.keys()
    assert "imported" in imports(env.python).stdout
    again = env.fix("--yes", "--include", "ask")
    assert (again.returncode, again.stdout) == (0, "Nothing to do.\n")
    undone = env.fix("--undo")
    assert undone.returncode == 0, undone.stderr
    assert env.freeze() == frozen
    assert digest_without_own(env) == before


def digest_without_own(env: Env) -> str:
    """What is left once the journal is gone too."""
    shutil.rmtree(env.root / ".tfdoctor")
    return digest(env.root)


def test_numpy_2_and_keras_3(tf215: Env, environments: Environments) -> None:
    environments.install(tf215.python, "numpy>=2", "keras>=3")
    fixed_and_undone(tf215, "TFD509", "TFD511")


def test_missing_and_truncated_files(tf215: Env) -> None:
    package = tf215.site / "tensorflow" / "python"
    for name in ("framework/ops.py", "eager/context.py"):
        (package / name).unlink()
    truncated = package / "ops" / "array_ops.py"
    truncated.unlink()  # it is linked to other environments
    truncated.write_text("")
    fixed_and_undone(tf215, "TFD504")


def test_two_tensorflows_and_one_removed(tf215: Env, environments: Environments) -> None:
    environments.install(tf215.python, "tensorflow-cpu==2.15.1")
    environments.uninstall(tf215.python, "tensorflow-cpu")
    fixed_and_undone(tf215, "TFD504", ask=True)


def test_protobuf_too_new(build: Build, environments: Environments) -> None:
    env = build("tf210", "3.10", "tensorflow-cpu==2.10.1", "numpy<2")
    environments.install(env.python, "protobuf>=5")
    fixed_and_undone(env, "TFD510")


def test_tf_keras_missing_for_a_package_of_keras_2(build: Build) -> None:
    env = build("tfp", "3.11", "tensorflow-cpu==2.20.0", "tensorflow-probability")
    fixed_and_undone(env, "TFD513")


def test_a_local_folder_is_reported_and_stays(tf215: Env, tmp_path: Path) -> None:
    mine = tmp_path / "work" / "tensorflow"
    mine.mkdir(parents=True)
    (mine / "__init__.py").write_text("mine = True\n")
    env = Env(tf215.root, tf215.index, offline=False)
    argv = [sys.executable, "-m", "tfdoctor", "fix", "--yes", "--include", "ask", "--python", str(env.python)]
    done = subprocess.run(argv, cwd=mine.parent, env=env.variables, capture_output=True, text=True, check=False)
    assert done.returncode == 1, "it is left to a person"
    assert "by hand" in done.stdout
    assert str(mine) in done.stdout
    assert [p.name for p in mine.iterdir() if p.name != "__pycache__"] == ["__init__.py"]
    assert not (env.root / ".tfdoctor").exists()
