"""The rows of compat/cuda_libraries.json that NVIDIA's wheels cover: the file names in them are the library names."""

from __future__ import annotations

import re
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from remotezip import RemoteZip

from refresh.index import Index, WheelFile

#: Component -> the project that holds it. "-cu11" or "-cu12" is appended; from CUDA 13 on the name stands alone.
PROJECTS = {
    "cublas": "nvidia-cublas",
    "cublasLt": "nvidia-cublas",
    "cudart": "nvidia-cuda-runtime",
    "cufft": "nvidia-cufft",
    "cupti": "nvidia-cuda-cupti",
    "curand": "nvidia-curand",
    "cusolver": "nvidia-cusolver",
    "cusparse": "nvidia-cusparse",
}
SUFFIXES = ("-cu11", "-cu12", "")


def rows(index: Index, old: list[dict[str, Any]], today: str) -> list[dict[str, Any]]:
    """The committed rows; those whose range holds the wheels of a suffix get the names in these wheels."""
    found = {row["cuda"]: row for row in old}
    for suffix in SUFFIXES:
        ends = _ends(index, PROJECTS["cudart"] + suffix)
        versions = [".".join(end.version.split(".")[:2]) for end in ends]
        for asked, row in found.items():
            if all(version in SpecifierSet(asked) for version in versions):
                source = f"file names in the nvidia-*{suffix} wheels of CUDA {versions[0]} to {versions[-1]}"
                found[asked] = {**row, "sonames": _names(index, suffix), "source": source, "grade": "measured"}
    return list(found.values())


def _names(index: Index, suffix: str) -> dict[str, str]:
    """Component -> name, where the oldest and the newest wheel agree (CUPTI of CUDA 11 has one per minor release)."""
    found = {}
    for component, project in PROJECTS.items():
        names = {_name(component, index.read(end, "libraries", _files)) for end in _ends(index, project + suffix)}
        if len(names) == 1:
            found[component] = names.pop()
    return found


def _ends(index: Index, project: str) -> tuple[WheelFile, ...]:
    """The oldest and the newest final release for Linux x86_64."""
    wheels = [w for w in index.wheels(project) if "linux" in w.platform and "x86_64" in w.platform]
    final = [w for w in wheels if not Version(w.version).is_prerelease]
    return final[0], final[-1]


def _files(archive: RemoteZip) -> list[str]:
    return sorted(name.rpartition("/")[2] for name in archive.namelist() if re.search(r"/lib\w+\.so\.[\d.]+$", name))


def _name(component: str, files: list[str]) -> str:
    """ "libcupti.so.12" where the wheel also holds "libcupti.so.2024.3.2"."""
    names = [name for name in files if name.startswith(f"lib{component}.so.")]
    return min(names, key=len)
