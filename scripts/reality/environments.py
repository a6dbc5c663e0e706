"""Environments with one release each, changed as a case wants it and put back."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

from reality.cases import Case

PYTHON = "3.11"
PYTHONS = {"2.14.1": "3.10"}  # its [and-cuda] pins tensorrt 8.5.3.1, which has no wheel for 3.11


def uv(*arguments: str) -> None:
    """Run uv; its own message is enough when it fails."""
    subprocess.run(["uv", *arguments], check=True, stdout=subprocess.DEVNULL)


def create(release: str, folder: Path) -> Path:
    """Install a release into a fresh environment; its interpreter."""
    python = folder / "bin" / "python"
    if not python.exists():
        uv("venv", "-q", "--python", PYTHONS.get(release, PYTHON), str(folder))
        uv("pip", "install", "-q", "--python", str(python), f"tensorflow[and-cuda]=={release}")
    return python


def site_packages(python: Path) -> Path:
    """The site-packages folder of an environment made by `create`."""
    return next((python.parent.parent / "lib").glob("python3*/site-packages"))


def installed_version(python: Path, name: str) -> Optional[str]:
    """The version of a distribution in that environment, None when it is not there."""
    found = list(site_packages(python).glob(f"{name.replace('-', '_')}-*.dist-info"))
    return found[0].name[: -len(".dist-info")].rpartition("-")[2] if found else None


def applies(case: Case, python: Path) -> bool:
    """Cases about a wheel that this release does not install, or has in that version anyway, are left out."""
    if case.without or case.cut:
        return (site_packages(python) / (case.without or case.cut)).exists()
    if case.install:
        name, _, version = case.install.partition("==")
        return installed_version(python, name) not in (None, version)
    return True


def plant(path: Path, kind: str) -> None:
    """Put something that is no library for this machine where the loader looks first."""
    path.parent.mkdir(parents=True)
    if kind == "rubbish":
        path.write_text("this is no library, only a line of text that is longer than a header of an ELF file\n")
    elif kind == "empty":
        path.touch()
    elif kind == "elf32":  # class 1 is 32 bits, machine 3 is the 80386
        path.write_bytes(b"\x7fELF\x01\x01\x01" + bytes(9) + b"\x03\x00\x03\x00\x01" + bytes(4096))
    elif kind == "dangling":
        path.symlink_to("nowhere")
    else:
        path.mkdir()


@contextlib.contextmanager
def linked(site: Path, wanted: bool) -> Iterator[None]:
    """TensorFlow's guide: link the libraries of the wheels into tensorflow/, where $ORIGIN finds them."""
    made: list[Path] = []
    for library in site.glob("nvidia/*/lib/*.so*") if wanted else ():
        link = site / "tensorflow" / library.name
        if not link.exists():
            link.symlink_to(library)
            made.append(link)
    try:
        yield
    finally:
        for link in made:
            link.unlink()


@contextlib.contextmanager
def prepared(case: Case, python: Path) -> Iterator[None]:
    """The environment as the case wants it; as it was, afterwards."""
    away = case.without or case.cut
    folder = site_packages(python) / away
    aside = python.parent.parent / "aside"
    name = case.install.partition("==")[0]
    before = installed_version(python, name) if name else None
    if away:
        folder.rename(aside)
    if case.cut:
        folder.write_bytes(aside.read_bytes()[: aside.stat().st_size // 2])
    if case.install:
        uv("pip", "install", "-q", "--no-deps", "--python", str(python), case.install)
    try:
        with linked(site_packages(python), case.links):
            yield
    finally:
        if away:
            aside.rename(folder)
        if case.install:
            uv("pip", "install", "-q", "--no-deps", "--python", str(python), f"{name}=={before}")
