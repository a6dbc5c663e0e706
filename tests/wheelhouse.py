"""A package index of small wheels, and environments that take from it: what pip and uv do is real, the packages are not.

`TF_2_15` is enough of TensorFlow for everything that is read without importing it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import site_build

from tfdoctor.target.imports import IMPORTS

TF_2_15 = {
    **{k: v for k, v in site_build.TENSORFLOW.items() if k.endswith((".py", ".so"))},
    "tensorflow/python/platform/build_info.py": "build_info = {'is_cuda_build': False, 'is_rocm_build': False}\n",
    # What TensorFlow imports of others; NumPy is a wheel of its own here.
    **{f"{module.replace('.', '/')}/__init__.py": "" for module in IMPORTS.values() if module != "numpy"},
}
REQUIRES = ("keras<2.16,>=2.15.0", "numpy<2.0.0,>=1.23.5")


def wheel(
    folder: Path, name: str, version: str, files: Mapping[str, str] | None = None, requires: Sequence[str] = ()
) -> Path:
    """Write NAME-VERSION-py3-none-any.whl to `folder`."""
    stem = f"{name.replace('-', '_')}-{version}"
    module = {f"{name.replace('-', '_')}/__init__.py": f"__version__ = {version!r}\n"}
    info = {
        f"{stem}.dist-info/METADATA": "\n".join(
            [
                "Metadata-Version: 2.1",
                f"Name: {name}",
                f"Version: {version}",
                *(f"Requires-Dist: {r}" for r in requires),
            ]
        )
        + "\n",
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = []
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, text in {**(files or module), **info}.items():
            archive.writestr(place, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
            rows.append(f"{place},sha256={digest},{len(text.encode())}")
        archive.writestr(f"{stem}.dist-info/RECORD", "\n".join([*rows, f"{stem}.dist-info/RECORD,,", ""]))
    return path


def fill(folder: Path) -> Path:
    """The wheels that the tests need."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel(folder, "tensorflow-cpu", "2.15.1", TF_2_15, REQUIRES)
    for name, versions in {"keras": ("2.15.0", "3.3.3"), "numpy": ("1.26.4", "2.1.0")}.items():
        for version in versions:
            wheel(folder, name, version)
    return folder


@dataclass(frozen=True)
class Env:
    """One environment and the index that its package tool sees (not `offline`: whatever index this machine has)."""

    root: Path
    index: Path
    offline: bool = True

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.root / "bin" / "python"

    @property
    def site(self) -> Path:
        """Its site-packages."""
        (found,) = (self.root / "lib").glob("python3*/site-packages")
        return found

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a program that installs here."""
        if not self.offline:
            return {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CUDA_", "LD_", "VIRTUAL_ENV"))}
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_", "PYTHON", "CUDA_", "LD_"))}
        offline = {
            "PIP_CONFIG_FILE": os.devnull,
            "UV_NO_CONFIG": "1",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.index),
            "PIP_NO_CACHE_DIR": "1",
        }
        offline |= {"UV_NO_INDEX": "1", "UV_FIND_LINKS": str(self.index), "UV_OFFLINE": "1"}
        return {**clean, **offline, "PIP_ROOT_USER_ACTION": "ignore", "SHELL": "/bin/bash"}

    def pip(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The environment's pip, or uv where it has none."""
        own = [str(self.python), "-m", "pip"]
        if not (self.site / "pip").exists():
            own = [str(shutil.which("uv")), "pip"]
            arguments = (arguments[0], "--python", str(self.python), *arguments[1:])
        return subprocess.run([*own, *arguments], capture_output=True, text=True, check=False, env=self.variables)

    def freeze(self) -> list[str]:
        """What is installed."""
        return sorted(self.pip("freeze").stdout.splitlines())

    def fix(self, *arguments: str, own: str = sys.executable, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `tfdoctor fix` over it, with nobody to answer."""
        return subprocess.run(
            [own, "-m", "tfdoctor", "fix", "--python", str(self.python), *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.root,
            env={**self.variables, **variables},
            stdin=subprocess.DEVNULL,
            timeout=900,
        )

    def plan(self, *arguments: str, **variables: str) -> dict[str, Any]:
        """What --dry-run --format json says."""
        done = self.fix("--dry-run", "--format", "json", *arguments, **variables)
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def journals(self) -> list[dict[str, Any]]:
        """The journals on disk, oldest first."""
        return [json.loads(p.read_text()) for p in sorted(self.root.glob(".tfdoctor/*/journal.json"))]

    def listing(self) -> dict[str, str]:
        """Every file but tfdoctor's own and compiled ones -> hash, or where it links to."""
        found = {}
        for path in self.root.rglob("*"):
            if ".tfdoctor" in path.parts or "__pycache__" in path.parts or (path.is_dir() and not path.is_symlink()):
                continue
            name = str(path.relative_to(self.root))
            found[name] = str(path.readlink()) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()
        return found


def copy_of(env: Env, into: Path) -> Env:
    """The same environment in another place, its files hard-linked. Its scripts name the old one, so only `-m pip` is to be used."""
    shutil.copytree(env.root, into, symlinks=True, copy_function=link)
    return replace(env, root=into)


def link(source: str, into: str) -> None:
    """As uv and conda put files into an environment: a file that is written in place changes for everybody."""
    place = Path(source)
    if place.is_symlink():
        Path(into).symlink_to(place.readlink())
    else:
        os.link(source, into)
