"""Where we are: operating system, kernel, C library, processor, memory, limits."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from tfdoctor import loose
from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.loose import mapping
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.looking import first_text, if_told, text
from tfdoctor.probes.parse import cpuinfo, linux_version, meminfo, os_release, proc_driver, proc_limits

SHM = "/dev/shm"


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


@probe
def look_at_platform(host: Host) -> Platform:
    """Linux from its files; other systems from Python's platform module; a recording also from what it states."""
    if host.live and platform_name() != "linux":
        return _as_python_says()
    stated = mapping(host.stated("platform"))
    told = mapping(if_told(lambda: host.target_answer().get("python")) if not host.live else None)
    system = _system(host, stated, told)
    kernel = text(host, "/proc/sys/kernel/osrelease") or linux_version.release(text(host, "/proc/version"))
    kernel = kernel or loose.text(stated.get("kernel")) or (os.uname().release if host.live else "")
    release = _os_release(host) if system == "linux" else {}
    libc, libc_version = _libc(host, stated) if system == "linux" else ("", "")
    return Platform(
        system=system,
        machine=_machine(host, stated, told),
        kernel=kernel,
        distro=release.get("ID", loose.text(stated.get("distro"))),
        distro_like=tuple(release.get("ID_LIKE", "").split()),
        distro_version=release.get("VERSION_ID", loose.text(stated.get("distro_version"))),
        libc=libc,
        libc_version=libc_version,
        wsl=linux_version.wsl(kernel) or (2 if system == "linux" and _has_dxg(host) else 0),
        source="/proc, /etc/os-release" if system == "linux" else "target.json",
    )


def platform_name() -> str:
    """`sys.platform`, in a form that type checkers do not take for a constant."""
    return str(sys.platform)


def _as_python_says() -> Platform:
    """Windows and macOS."""
    import platform as python_platform

    system = python_platform.system().lower()
    return Platform(
        system=system,
        machine=_machine_name(python_platform.machine()),
        kernel=python_platform.release(),
        distro="",
        distro_like=(),
        distro_version=python_platform.mac_ver()[0] if system == "darwin" else python_platform.version(),
        libc="",
        libc_version="",
        wsl=0,
        source="Python's platform module",
    )


def _system(host: Host, stated: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    if host.live:
        return "linux"
    if stated.get("system"):
        return str(stated["system"])
    if isinstance(told.get("platform"), str):
        return {"win32": "windows", "cygwin": "windows"}.get(told["platform"], str(told["platform"]))
    files = (
        "/proc/version",
        "/proc/sys/kernel/osrelease",
        "/etc/os-release",
        "/proc/cpuinfo",
        "/proc/modules",
        "/proc/meminfo",
    )
    if any(text(host, path) for path in (*files, "/proc/driver/nvidia/version")):
        return "linux"
    raise Unavailable(_("the recording does not tell the operating system"))


def _has_dxg(host: Host) -> bool:
    """WSL2 with a kernel of the user's own making, whose name does not tell."""
    return if_told(host.stat, "/dev/dxg") is not None


def _machine_name(name: str) -> str:
    """One name for one architecture: AMD64 -> x86_64, arm64 -> aarch64."""
    lower = name.lower()
    return {"amd64": "x86_64", "arm64": "aarch64", "x64": "x86_64"}.get(lower, lower)


def _machine(host: Host, stated: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    by_kernel = text(host, "/proc/sys/kernel/arch") or cpuinfo.parse(text(host, "/proc/cpuinfo")).machine
    name = (
        by_kernel
        or loose.text(stated.get("machine"))
        or loose.text(told.get("machine"))
        or (os.uname().machine if host.live else "")
    )
    return _machine_name(name or proc_driver.machine(text(host, "/proc/driver/nvidia/version")))


def _os_release(host: Host) -> dict[str, str]:
    return os_release.parse(text(host, "/etc/os-release") or text(host, "/usr/lib/os-release"))


def _libc(host: Host, stated: Mapping[str, Any]) -> tuple[str, str]:
    """("glibc", "2.36"), ("musl", "") or ("", "") when it is not told."""
    if not host.live:
        return loose.text(stated.get("libc")), loose.text(stated.get("libc_version"))
    try:
        name, _space, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except (ValueError, OSError):  # musl knows no such name
        name, version = "", ""
    if name:
        return name, version
    return ("musl", "") if host.glob("/lib/ld-musl-*") else ("", "")


@probe
def look_at_cpu(host: Host) -> Cpu:
    """/proc/cpuinfo. Other systems do not tell the flags without a program of their own."""
    path, found = first_text(host, ("/proc/cpuinfo",))
    if not path:
        raise Unavailable(_("there is no /proc/cpuinfo"))
    parsed = cpuinfo.parse(found)
    return Cpu(parsed.model, parsed.flags, parsed.cores, path)


@probe
def look_at_memory(host: Host) -> Memory:
    """/proc/meminfo, else psutil."""
    found = host.read("/proc/meminfo")
    if found is not None:
        values = meminfo.parse(found)
        if "MemTotal" not in values:
            raise Unavailable(_("/proc/meminfo does not tell MemTotal"))
        available = values.get("MemAvailable", values.get("MemFree", 0) + values.get("Cached", 0))
        return Memory(values["MemTotal"], available, "/proc/meminfo")
    if not host.live or platform_name() == "linux":
        raise Unavailable(_("there is no /proc/meminfo"))
    import psutil

    memory = psutil.virtual_memory()
    return Memory(memory.total, memory.available, "psutil")


@probe
def look_at_shm(host: Host) -> Shm:
    """Size and use of /dev/shm, and NCCL's segments that no process has mapped any more."""
    space = host.space(SHM)
    if space is None:
        raise NotApplicable(_("there is no /dev/shm"))
    if host.live:
        stale, size = _stale_segments(host)
    else:
        stated = mapping(host.stated("shm"))
        stale, size = list(loose.texts(stated.get("stale"))), loose.number(stated.get("stale_bytes"))
    return Shm(space.total, space.free, tuple(stale), size, SHM)


def _stale_segments(host: Host) -> tuple[list[str], int]:
    """(paths, bytes) of this user's segments that are in nobody's memory map. Another user's maps cannot be read, so
    another user's segments are not judged."""
    own = os.getuid() if hasattr(os, "getuid") else -1
    sizes = {}
    for path in host.glob(f"{SHM}/nccl-*"):
        found = if_told(host.stat, path)
        if found is not None and found.uid == own and found.kind == "file":
            sizes[path] = found.size
    if not sizes:
        return [], 0
    mapped: set[str] = set()
    for maps in host.glob("/proc/[0-9]*/maps"):
        lines = if_told(host.read, maps) or ""
        mapped.update(line.split()[-1] for line in lines.splitlines() if f"{SHM}/nccl-" in line)
    stale = sorted(set(sizes) - mapped)
    return stale, sum(sizes[path] for path in stale)


@probe
def look_at_limits(host: Host) -> Limits:
    """RLIMIT_MEMLOCK as /proc/self/limits has it."""
    path, found = first_text(host, ("/proc/self/limits",))
    memlock = proc_limits.locked_memory(found)
    if memlock is None:
        raise Unavailable(_("/proc/self/limits does not tell the limit of locked memory"))
    return Limits(memlock[0], path)
