"""CUDA toolkits on disk, and what XLA needs of one: ptxas and libdevice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Toolkit:
    """One toolkit. `version` is "12.4" or "12.4.1" as stated by `stated_by` (version.json, version.txt, nvcc, header, folder name)."""

    path: str
    version: str
    stated_by: str
    has_nvcc: bool


@dataclass(frozen=True)
class Toolkits:
    """Every toolkit found (/usr/local/cuda*, distribution, conda, CUDA_HOME…); `default` is where /usr/local/cuda points."""

    toolkits: tuple[Toolkit, ...]
    default: str
    source: str


@dataclass(frozen=True)
class XlaTools:
    """ptxas and libdevice as XLA would find them. `ptxas` is the path it would run ("" none), `ptxas_version` "12.9" or None
    when it could not be told. `libdevice` is the file it would read ("" none); `libdevice_elsewhere` other copies."""

    ptxas: str
    ptxas_version: Optional[str]
    libdevice: str
    libdevice_elsewhere: tuple[str, ...]
    source: str
