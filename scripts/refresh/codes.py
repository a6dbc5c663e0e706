"""Names and numbers in compat/error_codes.json, from the headers in NVIDIA's wheels; meanings are people's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from packaging.version import Version
from remotezip import RemoteZip

from refresh.index import Index, preferred


@dataclass(frozen=True)
class Header:
    """Where the codes of one API stand: ``pattern`` has the name and the value (a number or another name)."""

    api: str
    project: str
    range: tuple[str, str]
    member: str
    pattern: str


_CUDNN = r"(CUDNN_STATUS_\w+)(?:\s+CUDNN_DEPRECATED_ENUM)?\s*=\s*(\w+)"
HEADERS = (
    Header("cublas", "nvidia-cublas-cu12", ("12", "13"), "cublas_api.h", r"(CUBLAS_STATUS_\w+)\s*=\s*(\d+)"),
    Header("cuda-driver", "nvidia-cuda-runtime", ("13", "14"), "cuda.h", r"(CUDA_SUCCESS|CUDA_ERROR_\w+)\s*=\s*(\d+)"),
    Header("cuda-runtime", "nvidia-cuda-runtime", ("13", "14"), "driver_types.h", r"(cudaSuccess|cudaError\w+)\s*=\s*(\d+)"),
    Header("cudnn", "nvidia-cudnn-cu12", ("9", "10"), "cudnn_graph.h", _CUDNN),
    Header("cudnn8", "nvidia-cudnn-cu11", ("8", "9"), "cudnn_ops_infer.h", _CUDNN),
    Header("nccl", "nvidia-nccl-cu12", ("2", "3"), "nccl.h", r"(nccl(?:Success|\w*Error|InvalidArgument|InvalidUsage|InProgress|Timeout))\s*=\s*(\d+)"),
    Header("nvml", "nvidia-nvml-dev", ("13", "14"), "nvml.h", r"(NVML_SUCCESS|NVML_ERROR_\w+)\s*=\s*(\d+)"),
)  # fmt: skip


def rows(index: Index, old: list[dict[str, Any]], today: str) -> list[dict[str, Any]]:
    """The committed rows with the numbers of the newest headers.

    A code that a newer header no longer has stays: old logs have it. One that is new has no meaning, and
    tests/test_tables_data.py fails until a person has written one.
    """
    known = {(row["api"], row["name"]): row for row in old}
    for header in HEADERS:
        wheels = [w for w in index.wheels(header.project) if "linux" in w.platform and "x86_64" in w.platform]
        low, high = map(Version, header.range)
        versions = [Version(w.version) for w in wheels if low <= Version(w.version) < high]
        newest = [w for w in wheels if Version(w.version) == max(versions)]
        text = index.read(preferred(newest), header.member, _reader(header.member))
        for name, value in values(text, header.pattern).items():
            row = known.get((header.api, name)) or _new(header, name, max(versions), today)
            known[(header.api, name)] = {**row, "value": value}
    return sorted(known.values(), key=lambda row: (row["api"], row["name"]))


def values(text: str, pattern: str) -> dict[str, int]:
    """Name -> number; a value that is another name is followed."""
    found: dict[str, str] = {}
    for name, value in re.findall(pattern, text):
        found.setdefault(name, value)
    return {name: number for name in found if (number := _number(found, name)) is not None}


def _number(found: Mapping[str, str], name: str, depth: int = 5) -> Optional[int]:
    value = found.get(name)
    if value is None or depth == 0:
        return None
    return int(value) if value.isdigit() else _number(found, value, depth - 1)


def _reader(member: str) -> Callable[[RemoteZip], str]:
    def read(archive: RemoteZip) -> str:
        name = next(n for n in archive.namelist() if n.endswith("/" + member))
        return str(archive.read(name).decode("utf-8", "replace"))

    return read


def _new(header: Header, name: str, version: Version, today: str) -> dict[str, Any]:
    return {
        "api": header.api,
        "name": name,
        "meaning": "",
        "advice": "",
        "source": f"{header.member} of {header.project} {version}",
        "grade": "measured",
        "checked": today,
    }
