"""Builds environments from packages, once per test session, and runs `tfdoctor check` over them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from interpreters import find_python

REPOSITORY = Path(__file__).resolve().parent.parent
# A package without dependencies that every index has: it tells whether there is an index at all.
PROBE = "six"
TENSORFLOW = "2.21.0"
INSTALL_LIMIT = 1200  # seconds; TensorFlow is 550 MB


def _run(command: Sequence[str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=INSTALL_LIMIT, check=False)


@dataclass
class Environments:
    """Throw-away environments below `folder`, by name."""

    folder: Path
    _built: dict[str, Path] = field(default_factory=dict)

    def get(self, name: str, python: str, *requirements: str) -> Path:
        """The interpreter of the environment `name`; built when it is first asked for. `python` is "3.11"."""
        if name not in self._built:
            self._built[name] = self._build(name, python, requirements)
        return self._built[name]

    def _build(self, name: str, python: str, requirements: Sequence[str]) -> Path:
        where = self.folder / name
        interpreter = where / "bin" / "python"
        uv, base = shutil.which("uv"), find_python(python)
        if uv:
            made = _run([uv, "venv", "--quiet", "--python", base or python, str(where)])
        elif base:
            made = _run([base, "-m", "venv", str(where)])
        else:
            pytest.skip(f"neither uv nor a Python {python} on this machine")
        if made.returncode or not interpreter.exists():
            pytest.skip(f"no Python {python} to be had here: {made.stderr.strip()[-200:]}")
        if requirements:
            self.install(interpreter, *requirements)
        return interpreter

    def install(self, interpreter: Path, *requirements: str) -> None:
        """Install packages. Skips the test when no index can be reached; fails it for any other reason."""
        done = _run([*_installer(interpreter, "install"), *requirements])
        if done.returncode:
            if _run([*_installer(interpreter, "install"), *_fresh(), PROBE]).returncode:
                pytest.skip("no package index can be reached")
            pytest.fail(f"{' '.join(requirements)} cannot be installed: {done.stderr[-2000:]}")

    def uninstall(self, interpreter: Path, *names: str) -> None:
        """Remove packages as a user would."""
        options = [] if shutil.which("uv") else ["-y"]
        done = _run([*_installer(interpreter, "uninstall"), *options, *names])
        assert done.returncode == 0, done.stderr


def _installer(interpreter: Path, command: str) -> list[str]:
    uv = shutil.which("uv")
    return [uv, "pip", command, "--python", str(interpreter)] if uv else [str(interpreter), "-m", "pip", command]


def _fresh() -> list[str]:
    return ["--reinstall", "--no-cache"] if shutil.which("uv") else ["--force-reinstall", "--no-cache-dir"]


@dataclass(frozen=True)
class Answer:
    """What `tfdoctor check --format json` printed."""

    report: Mapping[str, Any]
    code: int

    @property
    def verdict(self) -> str:
        """ "yes", "no" or "unknown"."""
        return str(self.report["verdict"]["gpu"])

    @property
    def because(self) -> str | None:
        """The name of the root cause."""
        return self.report["verdict"]["because"]  # type: ignore[no-any-return]

    @property
    def codes(self) -> dict[str, str]:
        """Code -> name of everything that was found."""
        return {d["code"]: d["name"] for d in self.report["diagnoses"]}

    @property
    def names(self) -> set[str]:
        """The names of everything that was found."""
        return set(self.codes.values())


def check(
    target: Path, *, own: str = sys.executable, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> Answer:
    """Run `tfdoctor check` with the interpreter `own` over the interpreter `target`."""
    clean = {
        k: v
        for k, v in os.environ.items()
        if k not in ("PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
    }
    done = subprocess.run(
        [own, "-m", "tfdoctor", "check", "--format", "json", "--python", str(target)],
        capture_output=True,
        text=True,
        cwd=cwd or target.parent,
        env={**clean, **(environment or {})},
        timeout=120,
        check=False,
    )
    assert done.stdout, done.stderr
    answer = Answer(json.loads(done.stdout), done.returncode)
    assert answer.report["crashed"] == [], answer.report["crashed"]
    return answer


def imports(target: Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Really import TensorFlow: what the prediction is compared with."""
    return _run([str(target), "-c", "import tensorflow as tf; print('imported', tf.__version__)"], cwd)
