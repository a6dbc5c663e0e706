"""The GPU and its driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from facts.base import GIB, MIB, make
from tfdoctor.probes.cuda_driver import CudaDevice, CudaDriver
from tfdoctor.probes.device_nodes import DeviceNode, DeviceNodes
from tfdoctor.probes.fabric import Fabric
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import InstalledDriver, KernelDriver, KernelModuleFile, KernelSettings
from tfdoctor.probes.kernel_log import KernelLog, Xid
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import (
    Driver,
    Gpu,
    Gpus,
    Nvml,
    PcieLink,
    Topology,
)
from tfdoctor.probes.pci import Link, Pci, PciDevice
from tfdoctor.probes.rocm import Rocm


def gpu_machine(**changes: Any) -> GpuMachine:
    defaults = {"evidence": "0000:01:00.0 on the PCI bus", "count": 1, "source": "/sys/bus/pci/devices"}
    return make(GpuMachine, defaults, changes)


def nvml(**changes: Any) -> Nvml:
    defaults = {"state": "ok", "code": 0, "error": "", "library_version": "550.107.02", "source": "NVML"}
    return make(Nvml, defaults, changes)


def driver(**changes: Any) -> Driver:
    return make(Driver, {"version": "550.107.02", "cuda": "12.4", "model": "", "source": "NVML"}, changes)


def cuda_driver(count: Optional[int] = 1, **changes: Any) -> CudaDriver:
    """CUDA starts and counts `count` devices. Not part of the machines below: a recording need not have it."""
    defaults = {
        "state": "ok",
        "code": 0,
        "function": "cuDeviceGetAttribute",
        "error": "",
        "version": "12.4",
        "count": count,
        "devices": (CudaDevice("NVIDIA GeForce RTX 3090", "8.6"),) * (count or 0),
        "unhidden": None,
        "path": "/usr/lib/x86_64-linux-gnu/libcuda.so.550.107.02",
        "source": "cuInit",
    }
    return make(CudaDriver, defaults, changes)


def cuda_fails(code: Optional[int] = 999, **changes: Any) -> CudaDriver:
    """cuInit returns `code`."""
    known = {"state": "failed", "code": code, "function": "cuInit", "count": None, "devices": ()}
    return cuda_driver(**{**known, **changes})


def pcie(generation: int = 1, width: int = 16, maximum: int = 4, max_width: int = 16) -> PcieLink:
    """A link at rest: generation 1 now, as wide as it can be."""
    return PcieLink(generation, width, maximum, max_width, maximum, maximum)


def gpu(index: int = 0, **changes: Any) -> Gpu:
    """An idle RTX 3090."""
    defaults = {
        "index": index,
        "name": "NVIDIA GeForce RTX 3090",
        "bus": f"0000:{index + 1:02x}:00.0",
        "uuid": f"GPU-{index}",
        "compute_capability": "8.6",
        "memory_total": 24 * GIB,
        "memory_used": 300 * MIB,
        "pcie": pcie(),
        "mig": None,
        "compute_mode": "default",
        "persistence": True,
        "display": False,
        "throttle": frozenset({"idle"}),
        "temperature": 41,
        "temperature_slowdown": 95,
        "temperature_max_operating": 93,
        "power": 28.0,
        "power_limit": 350.0,
        "power_limit_default": 350.0,
        "clock_sm": 210,
        "clock_sm_max": 2100,
        "performance_state": 8,
        "utilization": 0,
        "processes": (),
        "nvlinks": (),
        "numa_node": 0,
        "cpu_affinity": "0-31",
        "virtualization": "none",
    }
    return make(Gpu, defaults, changes)


def gpus(*cards: Gpu, **changes: Any) -> Gpus:
    """The given GPUs; one RTX 3090 when none is given."""
    return make(Gpus, {"gpus": cards or (gpu(),), "source": "NVML"}, changes)


def topology(levels: Mapping[tuple[int, int], str] = {}, p2p: Mapping[tuple[int, int], str] = {}) -> Topology:
    return Topology(levels, p2p, "NVML")


def pci_device(**changes: Any) -> PciDevice:
    """An idle RTX 3090 behind a full-width port."""
    defaults = {
        "address": "0000:01:00.0",
        "vendor": "10de",
        "device": "2204",
        "device_class": "0300",
        "name": "GA102 [GeForce RTX 3090]",
        "driver": "nvidia",
        "dead": False,
        "numa_node": 0,
        "link": Link(1, 16, 4, 16),
        "upstream": (Link(1, 16, 5, 16),),
        "bars": (16 * MIB, 32 * GIB, 32 * MIB),
    }
    return make(PciDevice, defaults, changes)


def pci(*devices: PciDevice) -> Pci:
    """The given devices; one RTX 3090 when none is given (an empty bus: `Pci((), source)`)."""
    return Pci(devices or (pci_device(),), "/sys/bus/pci/devices")


def kernel_driver(**changes: Any) -> KernelDriver:
    modules = frozenset({"nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm"})
    defaults = {
        "loaded_version": "550.107.02",
        "flavour": "proprietary",
        "modules": modules,
        "params": {"RmProfilingAdminOnly": "1"},
        "source": "/proc/driver/nvidia/version",
    }
    return make(KernelDriver, defaults, changes)


def kernel_module_file(**changes: Any) -> KernelModuleFile:
    defaults = {
        "path": "/lib/modules/6.8.0-45-generic/updates/dkms/nvidia.ko",
        "version": "550.107.02",
        "signer": "host Secure Boot Module Signature key",
        "other_kernels": (),
        "headers": True,
        "source": "/lib/modules",
    }
    return make(KernelModuleFile, defaults, changes)


def kernel_settings(**changes: Any) -> KernelSettings:
    defaults = {
        "secure_boot": False,
        "command_line": ("BOOT_IMAGE=/vmlinuz", "ro", "quiet"),
        "iommu_groups": 0,
        "acs_redirects": 0,
        "source": "/proc/cmdline",
    }
    return make(KernelSettings, defaults, changes)


def installed_driver(**changes: Any) -> InstalledDriver:
    files = ("/usr/lib/x86_64-linux-gnu/libcuda.so.550.107.02", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.107.02")
    defaults = {
        "packages": {"nvidia-driver-550": "550.107.02-0ubuntu1"},
        "libraries": files,
        "library_versions": frozenset({"550.107.02"}),
        "fabric_manager": "",
        "source": "dpkg",
    }
    return make(InstalledDriver, defaults, changes)


def kernel_log(*xids: Xid, **changes: Any) -> KernelLog:
    return make(KernelLog, {"xids": xids, "sxids": (), "lines": (), "source": "dmesg"}, changes)


def xid(code: int, **changes: Any) -> Xid:
    text = f"NVRM: Xid (PCI:0000:01:00): {code}, pid=1234, name=python"
    defaults = {"code": code, "bus": "0000:01:00", "pid": 1234, "process": "python", "text": text}
    return make(Xid, defaults, changes)


def device_node(path: str, **changes: Any) -> DeviceNode:
    defaults = {"path": path, "mode": 0o666, "uid": 0, "gid": 0, "group": "root", "error": ""}
    return make(DeviceNode, defaults, changes)


def device_nodes(*nodes: DeviceNode, cards: int = 1) -> DeviceNodes:
    """The given nodes; those of `cards` GPUs when none is given."""
    names = [*(str(i) for i in range(cards)), "ctl", "-uvm", "-uvm-tools", "-modeset"]
    return DeviceNodes(nodes or tuple(device_node(f"/dev/nvidia{name}") for name in names), "/dev")


def nvidia_smi(**changes: Any) -> NvidiaSmi:
    defaults = {"problem": "", "code": 0, "text": "", "version": "550.107.02", "source": "nvidia-smi"}
    return make(NvidiaSmi, defaults, changes)


def fabric(**changes: Any) -> Fabric:
    defaults = {"switches": 4, "running": True, "version": "550.107.02", "source": "/sys/bus/pci/devices"}
    return make(Fabric, defaults, changes)


def rocm(**changes: Any) -> Rocm:
    defaults = {
        "version": "6.3.0",
        "gpus": (("AMD Instinct MI300X", "gfx942"),),
        "driver": "6.10.5",
        "libraries_found": True,
        "source": "/opt/rocm",
    }
    return make(Rocm, defaults, changes)
