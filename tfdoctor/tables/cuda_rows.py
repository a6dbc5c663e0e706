"""The rows about CUDA: toolkits and their libraries, the drivers that they need, PTX, cuDNN and NCCL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional

from tfdoctor.tables.gpu_code import as_pair, as_text, runs_on
from tfdoctor.tables.rows import Range, Row, Version


@dataclass(frozen=True)
class Toolkit(Row):
    """One CUDA toolkit release and the driver it came with.

    None where none came with it: on Windows from 13.1 on, on Linux from 13.4 on.
    """

    cuda: Version
    update: int
    label: str
    linux: Optional[Version]
    windows: Optional[Version]


@dataclass(frozen=True)
class CudaLibraries(Row):
    """The library names of a range of CUDA toolkits on Linux, by component."""

    cuda: Range
    sonames: Mapping[str, str]


@dataclass(frozen=True)
class DriverFamily(Row):
    """The lowest driver for a CUDA family ("12": minor-version compatibility; "10.1": that release alone)."""

    family: str
    linux: Version
    windows: Optional[Version]
    minor_version_compatibility: bool
    note: str


@dataclass(frozen=True)
class DriverBranch(Row):
    """A driver branch and the CUDA driver API version it implements."""

    branch: int
    cuda: Version
    kind: Optional[str]
    end_of_life: Optional[str]


@dataclass(frozen=True)
class ForwardCompat(Row):
    """A cuda-compat package: the driver branches it can sit on and the kinds of GPU it works on."""

    package: str
    cuda: Version
    on_branches: tuple[int, ...]
    gpus: str


@dataclass(frozen=True)
class PtxIsa(Row):
    """A PTX ISA version, the CUDA release that brought it and the driver branch that compiles it."""

    ptx_isa: Version
    cuda: Version
    driver_branch: Optional[int]


@dataclass(frozen=True)
class CudnnSupport(Row):
    """What a range of cuDNN versions supports in its build for one CUDA major version."""

    versions: Range
    cuda_major: str
    cuda: Range
    min_compute_capability: Optional[str]
    machine_code: tuple[str, ...]
    linux_driver: Optional[Version]
    windows_driver: Optional[Version]
    note: str

    def has_code_for(self, compute_capability: str) -> Optional[bool]:
        """Whether its code runs on a GPU; None where neither its code nor its lowest compute capability is known."""
        if self.machine_code:
            ptx = (code for code in self.machine_code if code.startswith("compute_"))
            compiled = any(as_pair(as_text(code)) <= as_pair(compute_capability) for code in ptx)
            return compiled or runs_on(compute_capability, self.machine_code)
        if self.min_compute_capability is None:
            return None
        return as_pair(self.min_compute_capability) <= as_pair(compute_capability)


@dataclass(frozen=True)
class NcclSupport(Row):
    """An NCCL build for one CUDA major version and the GPU code in it."""

    version: Version
    cuda_major: str
    machine_code: tuple[str, ...]
    ptx: tuple[str, ...]
    ptx_isa: Optional[Version]
