"""The machine around an environment: a driver of stand-ins, and the files that a machine with two A100 has."""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from reality.cases import Case
from reality.environments import plant, site_packages

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests"))
fake_cuda: Any = importlib.import_module("fake_cuda")
fake_nvml: Any = importlib.import_module("fake_nvml")

GPUS = 2
OLD_DRIVER = "418.87.01"  # CUDA 10.1


def driver_profiles(case: Case) -> tuple[Any, Any]:
    """The same machine for both stand-ins: two A100."""
    cuda = fake_cuda.profile(count=GPUS).but(case.cuda)
    capability = str(case.cuda.get("gpu.0.compute_capability", "8.0"))
    cards = [fake_nvml.card_a100(i, compute_capability=capability) for i in range(GPUS)]
    nvml = fake_nvml.system(cards, cuda_driver=cuda.values["driver_version"])
    return cuda, nvml.but({"driver": OLD_DRIVER, "nvml": f"10.{OLD_DRIVER}"}) if "driver_version" in case.cuda else nvml


def surroundings(case: Case, python: Path, scratch: Path) -> dict[str, str]:
    """The environment variables of the case; both stand-in libraries are found unless it has no driver."""
    base = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "PYTHONPATH")}
    base.pop("VIRTUAL_ENV", None)
    site = str(site_packages(python))
    given = {key: value.replace("<site-packages>", site) for key, value in case.environment.items()}
    folders: list[str] = []
    if case.planted[0]:
        plant(scratch / "planted" / case.planted[0], case.planted[1])
        folders.append("" if case.here else str(scratch / "planted"))
    joined: dict[str, str] = {}
    if case.driver:
        cuda, nvml = driver_profiles(case)
        joined = fake_cuda.environment(cuda, scratch)
        if case.nvml:
            joined = fake_nvml.merge(joined, fake_nvml.environment(nvml, scratch))
        folders += joined["LD_LIBRARY_PATH"].split(":")
    if case.stub:
        stubs = scratch / "cuda-12.4" / "targets" / "x86_64-linux" / "lib" / "stubs"
        stubs.mkdir(parents=True)
        fake_cuda.build(stubs)
        folders.insert(0, str(stubs))
    folders += given.get("LD_LIBRARY_PATH", "").split()
    if case.wheels_on_path:
        folders += sorted(str(f) for f in site_packages(python).glob("nvidia/*/lib"))
    return {**base, **joined, **given, **({"LD_LIBRARY_PATH": ":".join(folders)} if folders else {})}


def working_directory(case: Case, scratch: Path) -> Path:
    """Where both are started."""
    return scratch / "planted" if case.here else scratch


def driver_files(case: Case) -> dict[str, str]:
    """What a loaded driver shows under /proc and /dev."""
    version = OLD_DRIVER if "driver_version" in case.cuda else "550.54.14"
    nodes = [*(f"dev/nvidia{i}" for i in range(GPUS)), "dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia-uvm-tools"]
    return {
        **dict.fromkeys(nodes, ""),
        "proc/modules": "nvidia_uvm 1527808 0 - Live 0x0\nnvidia 54566912 1 nvidia_uvm, Live 0x0\n",
        "proc/driver/nvidia/version": f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Tue Jan  2 03:04:05 UTC 2024\n"
        "GCC version:  gcc version 12.3.0\n",
    }


def pci_files() -> dict[str, str]:
    """The GPUs on the PCI bus, at the addresses of the stand-ins' cards."""
    attributes = {
        "vendor": "0x10de",
        "device": "0x20b2",
        "class": "0x030200",
        "numa_node": "0",
        "current_link_width": "16",
        "max_link_width": "16",
        "current_link_speed": "16.0 GT/s PCIe",
        "max_link_speed": "16.0 GT/s PCIe",
    }
    return {
        f"sys/bus/pci/devices/0000:{1 + 0x10 * i:02x}:00.0/{key}": f"{value}\n"
        for i in range(GPUS)
        for key, value in attributes.items()
    }


def machine_root(root: Path, case: Case) -> Path:
    """The files under /proc, /sys, /dev and /etc that a machine with two A100 has; the rest is copied from this one."""
    files = {"proc/modules": "", "dev/null": "", **pci_files(), **(driver_files(case) if case.driver else {})}
    for here in ("/proc/cpuinfo", "/proc/meminfo", "/proc/cmdline", "/proc/version", "/etc/os-release"):
        with contextlib.suppress(OSError):
            files[here[1:]] = Path(here).read_text(errors="replace")
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with contextlib.suppress(OSError):
        shutil.copy("/etc/ld.so.cache", root / "etc" / "ld.so.cache")
    return root
