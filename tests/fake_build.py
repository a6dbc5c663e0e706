"""Compiles the stand-in driver libraries and joins their environments. Used by fake_nvml and fake_cuda."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

Value = object  # str, int or None (None removes the key)


def compiler() -> str | None:
    """The C compiler of this machine, or None."""
    return shutil.which("gcc") or shutil.which("cc")


def need_compiler() -> None:
    """Skip the test when there is no C compiler or the platform does not load ELF libraries."""
    import pytest  # only tests skip; scripts use the rest of this file without it

    if compiler() is None or os.uname().sysname != "Linux":
        pytest.skip("the stand-in driver libraries need Linux and a C compiler")


def compile_library(source: Path, library: Path, without: Sequence[str] = ()) -> Path:
    """Build `source` as `library`, not exporting the symbols in `without`: a driver too old to have them."""
    script = library.with_suffix(".exports")
    hidden = "".join(f" {name};" for name in without)
    script.write_text("{ global: nvml*; cu*; local:" + hidden + " *; };\n")
    command = [
        compiler() or "cc",
        "-std=gnu11",
        "-shared",
        "-fPIC",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-Wl,-soname,{library.name}",
        f"-Wl,--version-script,{script}",
        "-o",
        str(library),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{source.name} does not compile:\n{done.stderr}")
    script.unlink()
    return library


@functools.cache
def cached_library(source: Path, name: str, without: tuple[str, ...]) -> Path:
    """The same, built once in this process, in a folder that goes away with it."""
    folder = tempfile.TemporaryDirectory(prefix="tfdoctor-fake-")
    _keep.append(folder)
    return compile_library(source, Path(folder.name) / name, without)


_keep: list[tempfile.TemporaryDirectory[str]] = []


class Profile:
    """An ordered set of `key value` lines that one of the stand-in libraries reads."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values = {key: value for key, value in values.items() if value is not None}

    def but(self, changes: Mapping[str, Value]) -> Profile:
        """This profile with some keys changed, added, or (None) removed."""
        return Profile({**self.values, **changes})

    def text(self) -> str:
        """The file as the library reads it."""
        return "".join(f"{key} {value}\n" for key, value in self.values.items())

    def write(self, path: Path) -> Path:
        path.write_text(self.text())
        return path


def environment(variable: str, library: Path, profile: Profile, directory: Path) -> dict[str, str]:
    """What a child process needs to load `library` driven by `profile`; files are written below `directory`."""
    stem = variable.lower()
    inherited = os.environ.get("LD_LIBRARY_PATH")
    return {
        "LD_LIBRARY_PATH": str(library.parent) + (f":{inherited}" if inherited else ""),
        variable: str(profile.write(directory / f"{stem}.profile")),
        f"{variable}_LOG": str(directory / f"{stem}.log"),
    }


def calls(env: Mapping[str, str], variable: str) -> list[str]:
    """The calls the library has seen so far, oldest first."""
    log = Path(env[f"{variable}_LOG"])
    return log.read_text().splitlines() if log.exists() else []


def merge(*environments: Mapping[str, str]) -> dict[str, str]:
    """Join environments; their LD_LIBRARY_PATHs are put one behind the other."""
    joined: dict[str, str] = {}
    folders: list[str] = []
    for env in environments:
        joined.update(env)
        folders += [f for f in env.get("LD_LIBRARY_PATH", "").split(":") if f and f not in folders]
    joined["LD_LIBRARY_PATH"] = ":".join(folders)
    return joined


def indexed(prefix: str, values: Iterable[Mapping[str, Value]]) -> dict[str, Value]:
    """[{a: 1}, {a: 2}] -> {prefix.0.a: 1, prefix.1.a: 2}."""
    return {f"{prefix}.{i}.{key}": value for i, one in enumerate(values) for key, value in one.items()}
