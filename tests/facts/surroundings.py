"""Where we are: the system, its limits, containers, clouds."""

from __future__ import annotations

from typing import Any

from facts.base import GIB, make
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.platform import Cpu, Limits, Memory, Platform, Shm
from tfdoctor.probes.surroundings import Cloud, Container, Jetson, Job, Wsl


def platform(**changes: Any) -> Platform:
    defaults = {
        "system": "linux",
        "machine": "x86_64",
        "kernel": "6.8.0-45-generic",
        "distro": "ubuntu",
        "distro_like": ("debian",),
        "distro_version": "22.04",
        "libc": "glibc",
        "libc_version": "2.35",
        "wsl": 0,
        "source": "/etc/os-release",
    }
    return make(Platform, defaults, changes)


def windows(**changes: Any) -> Platform:
    defaults = {
        "system": "windows",
        "kernel": "10.0.22631",
        "distro": "",
        "distro_like": (),
        "distro_version": "",
        "libc": "",
        "libc_version": "",
        "source": "platform.uname()",
    }
    return platform(**{**defaults, **changes})


def macos(**changes: Any) -> Platform:
    defaults = {
        "system": "darwin",
        "machine": "aarch64",
        "kernel": "23.6.0",
        "distro": "",
        "distro_like": (),
        "distro_version": "14.6",
        "libc": "",
        "libc_version": "",
        "source": "platform.uname()",
    }
    return platform(**{**defaults, **changes})


def cpu(**changes: Any) -> Cpu:
    flags = frozenset({"sse4_1", "sse4_2", "avx", "avx2", "fma", "avx512f"})
    return make(Cpu, {"model": "AMD Ryzen 9 7950X", "flags": flags, "cores": 16, "source": "/proc/cpuinfo"}, changes)


def memory(**changes: Any) -> Memory:
    return make(Memory, {"total": 64 * GIB, "available": 48 * GIB, "source": "/proc/meminfo"}, changes)


def shm(**changes: Any) -> Shm:
    defaults = {"total": 32 * GIB, "free": 31 * GIB, "stale": (), "stale_bytes": 0, "source": "/dev/shm"}
    return make(Shm, defaults, changes)


def limits(**changes: Any) -> Limits:
    return make(Limits, {"memlock": None, "source": "RLIMIT_MEMLOCK"}, changes)


def container(**changes: Any) -> Container:
    """Not in a container, unless `kind` says otherwise."""
    return make(Container, {"kind": "", "vendor": "", "image_tensorflow": "", "source": "/proc/1/cgroup"}, changes)


def cloud(**changes: Any) -> Cloud:
    defaults = {
        "provider": "",
        "instance_type": "",
        "virtual": False,
        "product": "X670E",
        "source": "/sys/class/dmi/id",
    }
    return make(Cloud, defaults, changes)


def job(**changes: Any) -> Job:
    return make(Job, {"scheduler": "", "gpus": None, "source": "environment"}, changes)


def wsl(**changes: Any) -> Wsl:
    defaults = {
        "version": 2,
        "kernel": "5.15.153.1-microsoft-standard-WSL2",
        "dxg": True,
        "libcuda": ("/usr/lib/wsl/lib/libcuda.so.1",),
        "linux_driver": (),
        "linux_libcuda": (),
        "source": "/usr/lib/wsl/lib",
    }
    return make(Wsl, defaults, changes)


def jetson(**changes: Any) -> Jetson:
    return make(
        Jetson, {"l4t": "36.3.0", "model": "NVIDIA Jetson AGX Orin", "source": "/etc/nv_tegra_release"}, changes
    )


def environment(**variables: str) -> Environment:
    """Only the given variables are set, beside a plain PATH."""
    return Environment({"PATH": "/usr/local/bin:/usr/bin:/bin", **variables}, "environment")
