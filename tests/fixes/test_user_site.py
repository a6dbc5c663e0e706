"""An ordinary user, and an interpreter whose packages only root can change: pip installs for this user alone."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from wheelhouse import Env, fill

NOBODY = 65534
PYTHON = str(Path(sys.base_prefix, "bin", f"python3.{sys.version_info[1]}"))
MANAGED = Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")


@dataclass(frozen=True)
class User:
    """Somebody who is not root, with a home of their own."""

    home: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program as this user, with the wheels of `home/../index` to install from."""
        become = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        variables = {**Env(self.home, self.home.parent / "index").variables, "HOME": str(self.home)}
        return subprocess.run([*become, *command], capture_output=True, text=True, check=False, cwd="/", env=variables)

    def fix(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """`tfdoctor fix` over the interpreter."""
        return self.run(sys.executable, "-m", "tfdoctor", "fix", "--python", PYTHON, *arguments)

    def files(self) -> dict[str, str]:
        """Every file of the home but compiled ones and tfdoctor's own -> hash."""
        found = (p for p in self.home.rglob("*") if p.is_file())
        mine = (p for p in found if not {"__pycache__", ".tfdoctor"}.intersection(p.parts))
        return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in mine}


@pytest.fixture
def user() -> Iterator[User]:
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become somebody else")
    folder = Path(tempfile.mkdtemp(prefix="tfdoctor-user-"))  # pytest's own are closed to others
    try:
        folder.chmod(0o755)
        fill(folder / "index")
        home = folder / "home"
        home.mkdir()
        os.chown(home, NOBODY, NOBODY)
        made = User(home)
        asked = made.run(PYTHON, "-c", "import pip, sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip()
        if asked != sysconfig.get_path("purelib", vars={"base": sys.base_prefix}):
            pytest.skip("another user cannot run this interpreter, or it has no pip")
        yield made
    finally:
        shutil.rmtree(folder)


@pytest.mark.skipif(MANAGED.exists(), reason="this interpreter belongs to the operating system")
def test_fixed_and_undone_in_the_user_s_own_packages(user: User) -> None:
    pip = (PYTHON, "-m", "pip")
    assert user.run(*pip, "install", "tensorflow-cpu==2.15.1").returncode == 0
    assert user.run(*pip, "install", "--no-deps", "keras==3.3.3", "numpy==2.1.0").returncode == 0
    frozen, before = user.run(*pip, "freeze").stdout, user.files()
    plan = user.fix("--dry-run").stdout
    assert f"Goes into {user.home}/.local/lib/" in plan
    assert "[after a question]" in plan
    assert user.files() == before
    done = user.fix("--yes", "--include", "ask")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fixed: TFD509, TFD511" in done.stdout
    undone = user.fix("--undo")
    assert undone.returncode == 0, undone.stderr
    assert (user.run(*pip, "freeze").stdout, user.files()) == (frozen, before)
