"""The kernel's side of the NVIDIA driver: what is loaded, what lies on disk, what keeps it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class KernelDriver:
    """`loaded_version` is from /proc/driver/nvidia/version ("" : not loaded). `flavour` is "open", "proprietary" or "".

    `modules`: which of nvidia, nvidia_uvm, nvidia_modeset, nvidia_drm, nouveau, amdgpu, bbswitch are loaded.
    `params`: /proc/driver/nvidia/params, as printed.
    """

    loaded_version: str
    flavour: str
    modules: frozenset[str]
    params: Mapping[str, str]
    source: str


@dataclass(frozen=True)
class KernelModuleFile:
    """nvidia.ko on disk. `path` and `version` for the running kernel ("" : none there); `other_kernels` have one.

    `headers`: the running kernel's headers are installed. `signer`: who signed the module ("" : nobody)."""

    path: str
    version: str
    signer: str
    other_kernels: tuple[str, ...]
    headers: bool
    source: str


@dataclass(frozen=True)
class KernelSettings:
    """`secure_boot`: None where the firmware does not tell. `command_line`: words of /proc/cmdline.

    `iommu_groups`: how many IOMMU groups are populated (0: IOMMU off); None: not told.
    `acs_redirects`: PCI bridges with ACS request redirect on, where lspci could tell; None: could not."""

    secure_boot: Optional[bool]
    command_line: tuple[str, ...]
    iommu_groups: Optional[int]
    acs_redirects: Optional[int]
    source: str


@dataclass(frozen=True)
class InstalledDriver:
    """The user-space driver on disk: distribution packages (name -> version) and the versioned library files
    (libcuda.so.VERSION, libnvidia-ml.so.VERSION) found in the loader's folders. Empty: seen, none there.

    `fabric_manager`: version of the nvidia-fabricmanager package, "" none, None could not look."""

    packages: Mapping[str, str]
    libraries: tuple[str, ...]
    library_versions: frozenset[str]
    fabric_manager: Optional[str]
    source: str
