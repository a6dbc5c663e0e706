"""Where we are: operating system, kernel, C library, processor, memory, limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Platform:
    """The operating system. `system` is "linux", "windows" or "darwin"; `machine` "x86_64", "aarch64", "ppc64le"…
    (Windows' AMD64 and Apple's arm64 are written x86_64 and aarch64).

    `distro` and `distro_like` are ID and ID_LIKE of os-release; `libc` is "glibc", "musl" or "" (not Linux).
    `wsl` is 0, 1 or 2. Versions are as printed; "" where not stated.
    """

    system: str
    machine: str
    kernel: str
    distro: str
    distro_like: tuple[str, ...]
    distro_version: str
    libc: str
    libc_version: str
    wsl: int
    source: str


@dataclass(frozen=True)
class Cpu:
    """The processor: model name and the flags of the first core (/proc/cpuinfo), lower case."""

    model: str
    flags: frozenset[str]
    cores: int
    source: str


@dataclass(frozen=True)
class Memory:
    """Main memory in bytes."""

    total: int
    available: int
    source: str


@dataclass(frozen=True)
class Shm:
    """/dev/shm in bytes, and the NCCL segments in it whose processes are gone (this user's, paths)."""

    total: int
    free: int
    stale: tuple[str, ...]
    stale_bytes: int
    source: str


@dataclass(frozen=True)
class Limits:
    """RLIMIT_MEMLOCK in bytes; None is "unlimited"."""

    memlock: Optional[int]
    source: str
