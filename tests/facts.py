"""Facts as a healthy machine has them, for tests of rules: builders that take what is to differ, and whole machines.

    import facts
    outcome = facts.run(driver_too_old.driver_too_old, facts.driver(version="470.82.01"), facts.tensorflow())
    facts.WORKSTATION.but(facts.driver(version="470.82.01")).found("TFD203")

A builder makes the fact of the workstation (one RTX 3090, Ubuntu 22.04, TensorFlow 2.20 with its CUDA wheels) unless
told otherwise. A fact that a test does not give "could not be looked at".
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Optional, TypeVar

import tfdoctor.probes
from tfdoctor import engine
from tfdoctor.model import Diagnosis, LogMatch, NotApplicable, Outcome, Rule, Status, Unavailable
from tfdoctor.probes.cuda_driver import CudaDevice, CudaDriver
from tfdoctor.probes.device_nodes import DeviceNode, DeviceNodes
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.fabric import Fabric
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distribution, Distributions, Interpreter
from tfdoctor.probes.kernel_driver import InstalledDriver, KernelDriver, KernelModuleFile, KernelSettings
from tfdoctor.probes.kernel_log import KernelLog, SXid, Xid
from tfdoctor.probes.libraries import DriverLibrary, Libraries, Library, LibraryFile
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import (
    Driver,
    Ecc,
    Gpu,
    GpuProcess,
    Gpus,
    MigInstance,
    NvLink,
    Nvml,
    PcieLink,
    RowRemap,
    Topology,
)
from tfdoctor.probes.pci import Link, Pci, PciDevice
from tfdoctor.probes.platform import Cpu, Limits, Memory, Platform, Shm
from tfdoctor.probes.rocm import Rocm
from tfdoctor.probes.surroundings import Cloud, Container, Jetson, Job, Wsl
from tfdoctor.probes.tensorflow import TensorFlow, TensorFlowPackages
from tfdoctor.probes.toolkits import Toolkits, XlaTools
from tfdoctor.tables import Tables

__all__ = [
    "DeviceNode",
    "Ecc",
    "GpuProcess",
    "Library",
    "LibraryFile",
    "Link",
    "MigInstance",
    "NvLink",
    "PcieLink",
    "RowRemap",
    "SXid",
    "Xid",
]

GIB = 1024**3
MIB = 1024**2
SITE = "/home/me/venv/lib/python3.11/site-packages"
T = TypeVar("T")


def tables() -> Tables:
    """The real tables; read once for all tests."""
    return _tables()


@functools.cache
def _tables() -> Tables:
    return Tables()


def _make(kind: Callable[..., T], defaults: Mapping[str, Any], changes: Mapping[str, Any]) -> T:
    return kind(**{**defaults, **changes})


# Where we are -----------------------------------------------------------------------------------------------------


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
    return _make(Platform, defaults, changes)


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
    return _make(Cpu, {"model": "AMD Ryzen 9 7950X", "flags": flags, "cores": 16, "source": "/proc/cpuinfo"}, changes)


def memory(**changes: Any) -> Memory:
    return _make(Memory, {"total": 64 * GIB, "available": 48 * GIB, "source": "/proc/meminfo"}, changes)


def shm(**changes: Any) -> Shm:
    defaults = {"total": 32 * GIB, "free": 31 * GIB, "stale": (), "stale_bytes": 0, "source": "/dev/shm"}
    return _make(Shm, defaults, changes)


def limits(**changes: Any) -> Limits:
    return _make(Limits, {"memlock": None, "source": "RLIMIT_MEMLOCK"}, changes)


def container(**changes: Any) -> Container:
    """Not in a container, unless `kind` says otherwise."""
    return _make(Container, {"kind": "", "vendor": "", "image_tensorflow": "", "source": "/proc/1/cgroup"}, changes)


def cloud(**changes: Any) -> Cloud:
    defaults = {
        "provider": "",
        "instance_type": "",
        "virtual": False,
        "product": "X670E",
        "source": "/sys/class/dmi/id",
    }
    return _make(Cloud, defaults, changes)


def job(**changes: Any) -> Job:
    return _make(Job, {"scheduler": "", "gpus": None, "source": "environment"}, changes)


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
    return _make(Wsl, defaults, changes)


def jetson(**changes: Any) -> Jetson:
    return _make(
        Jetson, {"l4t": "36.3.0", "model": "NVIDIA Jetson AGX Orin", "source": "/etc/nv_tegra_release"}, changes
    )


def environment(**variables: str) -> Environment:
    """Only the given variables are set, beside a plain PATH."""
    return Environment({"PATH": "/usr/local/bin:/usr/bin:/bin", **variables}, "environment")


# The GPU and its driver ----------------------------------------------------------------------------------------------


def gpu_machine(**changes: Any) -> GpuMachine:
    defaults = {"evidence": "0000:01:00.0 on the PCI bus", "count": 1, "source": "/sys/bus/pci/devices"}
    return _make(GpuMachine, defaults, changes)


def nvml(**changes: Any) -> Nvml:
    defaults = {"state": "ok", "code": 0, "error": "", "library_version": "550.107.02", "source": "NVML"}
    return _make(Nvml, defaults, changes)


def driver(**changes: Any) -> Driver:
    return _make(Driver, {"version": "550.107.02", "cuda": "12.4", "model": "", "source": "NVML"}, changes)


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
    return _make(CudaDriver, defaults, changes)


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
    return _make(Gpu, defaults, changes)


def gpus(*cards: Gpu, **changes: Any) -> Gpus:
    """The given GPUs; one RTX 3090 when none is given."""
    return _make(Gpus, {"gpus": cards or (gpu(),), "source": "NVML"}, changes)


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
    return _make(PciDevice, defaults, changes)


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
    return _make(KernelDriver, defaults, changes)


def kernel_module_file(**changes: Any) -> KernelModuleFile:
    defaults = {
        "path": "/lib/modules/6.8.0-45-generic/updates/dkms/nvidia.ko",
        "version": "550.107.02",
        "signer": "host Secure Boot Module Signature key",
        "other_kernels": (),
        "headers": True,
        "source": "/lib/modules",
    }
    return _make(KernelModuleFile, defaults, changes)


def kernel_settings(**changes: Any) -> KernelSettings:
    defaults = {
        "secure_boot": False,
        "command_line": ("BOOT_IMAGE=/vmlinuz", "ro", "quiet"),
        "iommu_groups": 0,
        "acs_redirects": 0,
        "source": "/proc/cmdline",
    }
    return _make(KernelSettings, defaults, changes)


def installed_driver(**changes: Any) -> InstalledDriver:
    files = ("/usr/lib/x86_64-linux-gnu/libcuda.so.550.107.02", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.107.02")
    defaults = {
        "packages": {"nvidia-driver-550": "550.107.02-0ubuntu1"},
        "libraries": files,
        "library_versions": frozenset({"550.107.02"}),
        "fabric_manager": "",
        "source": "dpkg",
    }
    return _make(InstalledDriver, defaults, changes)


def kernel_log(*xids: Xid, **changes: Any) -> KernelLog:
    return _make(KernelLog, {"xids": xids, "sxids": (), "lines": (), "source": "dmesg"}, changes)


def xid(code: int, **changes: Any) -> Xid:
    text = f"NVRM: Xid (PCI:0000:01:00): {code}, pid=1234, name=python"
    defaults = {"code": code, "bus": "0000:01:00", "pid": 1234, "process": "python", "text": text}
    return _make(Xid, defaults, changes)


def device_node(path: str, **changes: Any) -> DeviceNode:
    defaults = {"path": path, "mode": 0o666, "uid": 0, "gid": 0, "group": "root", "error": ""}
    return _make(DeviceNode, defaults, changes)


def device_nodes(*nodes: DeviceNode, cards: int = 1) -> DeviceNodes:
    """The given nodes; those of `cards` GPUs when none is given."""
    names = [*(str(i) for i in range(cards)), "ctl", "-uvm", "-uvm-tools", "-modeset"]
    return DeviceNodes(nodes or tuple(device_node(f"/dev/nvidia{name}") for name in names), "/dev")


def nvidia_smi(**changes: Any) -> NvidiaSmi:
    defaults = {"problem": "", "code": 0, "text": "", "version": "550.107.02", "source": "nvidia-smi"}
    return _make(NvidiaSmi, defaults, changes)


def fabric(**changes: Any) -> Fabric:
    defaults = {"switches": 4, "running": True, "version": "550.107.02", "source": "/sys/bus/pci/devices"}
    return _make(Fabric, defaults, changes)


def rocm(**changes: Any) -> Rocm:
    defaults = {
        "version": "6.3.0",
        "gpus": (("AMD Instinct MI300X", "gfx942"),),
        "driver": "6.10.5",
        "libraries_found": True,
        "source": "/opt/rocm",
    }
    return _make(Rocm, defaults, changes)


# Python and TensorFlow ---------------------------------------------------------------------------------------------


def interpreter(**changes: Any) -> Interpreter:
    defaults = {
        "path": "/home/me/venv/bin/python",
        "version": "3.11.9",
        "bits": 64,
        "kind": "venv",
        "implementation": "CPython",
        "externally_managed": False,
        "pip": "24.2",
        "user_site": False,
        "prefix": "/home/me/venv",
        "others": (),
        "source": "/home/me/venv/bin/python",
    }
    return _make(Interpreter, defaults, changes)


def distribution(name: str, version: str, **changes: Any) -> Distribution:
    defaults = {"name": name, "version": version, "location": SITE, "installer": "pip"}
    return _make(Distribution, defaults, changes)


#: What `pip install tensorflow[and-cuda]==2.20` brings, as far as rules look at it.
PACKAGES: Mapping[str, str] = {
    "tensorflow": "2.20.0",
    "keras": "3.11.3",
    "numpy": "2.3.2",
    "protobuf": "6.32.0",
    "ml-dtypes": "0.5.3",
    "h5py": "3.14.0",
    "tensorboard": "2.20.0",
    "typing-extensions": "4.14.1",
    "wrapt": "1.17.3",
    "gast": "0.6.0",
    "flatbuffers": "25.2.10",
    "grpcio": "1.74.0",
    "nvidia-cublas-cu12": "12.9.1.4",
    "nvidia-cuda-cupti-cu12": "12.9.79",
    "nvidia-cuda-nvcc-cu12": "12.9.86",
    "nvidia-cuda-nvrtc-cu12": "12.9.86",
    "nvidia-cuda-runtime-cu12": "12.9.79",
    "nvidia-cudnn-cu12": "9.12.0.46",
    "nvidia-cufft-cu12": "11.4.1.4",
    "nvidia-curand-cu12": "10.3.10.19",
    "nvidia-cusolver-cu12": "11.7.5.82",
    "nvidia-cusparse-cu12": "12.5.10.65",
    "nvidia-nccl-cu12": "2.27.7",
    "nvidia-nvjitlink-cu12": "12.9.86",
}


def distributions(versions: Mapping[str, Optional[str]] = {}, *more: Distribution, **changes: Any) -> Distributions:
    """TensorFlow 2.20 with its CUDA wheels; `versions` replaces or adds, None removes ({"keras": "2.15.0"})."""
    wanted = {name: v for name, v in {**PACKAGES, **versions}.items() if v is not None}
    by_name = {name: distribution(name, version) for name, version in wanted.items()}
    by_name.update((d.name, d) for d in more)
    return _make(Distributions, {"by_name": by_name, "duplicates": {}, "source": "metadata"}, changes)


def tensorflow_packages(**changes: Any) -> TensorFlowPackages:
    defaults = {"installed": (("tensorflow", "2.20.0"),), "folder": f"{SITE}/tensorflow", "shadow": "", "source": SITE}
    return _make(TensorFlowPackages, defaults, changes)


def tensorflow(**changes: Any) -> TensorFlow:
    defaults = {
        "distribution": "tensorflow",
        "version": "2.20.0",
        "location": f"{SITE}/tensorflow",
        "cuda_build": True,
        "rocm_build": False,
        "cuda": "12.5.1",
        "cudnn": "9",
        "nccl": "2.25.1",
        "compute_capabilities": ("sm_60", "sm_70", "sm_80", "sm_89", "compute_90"),
        "ptx_isa": "8.5",
        "in_table": True,
        "source": "build_info.py",
    }
    return _make(TensorFlow, defaults, changes)


def tensorflow_release(version: str, **changes: Any) -> TensorFlow:
    """The GPU build of a release that the tables know, as the Linux x86_64 wheel has it."""
    row = tables().release(version)
    assert row is not None and row.version == version, version
    known = {
        "distribution": row.gpu_distribution,
        "version": version,
        "cuda_build": row.has_gpu_build,
        "cuda": row.cuda or "",
        "cudnn": (row.cudnn or "").split(".")[0],
        "nccl": row.nccl or "",
        "compute_capabilities": row.compute_capabilities,
        "ptx_isa": row.ptx_isa or "",
    }
    return tensorflow(**{**known, **changes})


#: component -> (soname, folder of the wheel, version), as TensorFlow 2.20 opens them.
_OPENED = {
    "cudart": ("libcudart.so.12", "cuda_runtime", "12.9.79"),
    "cublas": ("libcublas.so.12", "cublas", "12.9.1.4"),
    "cublasLt": ("libcublasLt.so.12", "cublas", "12.9.1.4"),
    "cufft": ("libcufft.so.11", "cufft", "11.4.1.4"),
    "cusolver": ("libcusolver.so.11", "cusolver", "11.7.5.82"),
    "cusparse": ("libcusparse.so.12", "cusparse", "12.5.10.65"),
    "cudnn": ("libcudnn.so.9", "cudnn", "9.12.0.46"),
    "cupti": ("libcupti.so.12", "cuda_cupti", "12.9.79"),
}


def library_file(path: str, version: str, **changes: Any) -> LibraryFile:
    defaults = {"path": path, "soname": Path(path).name, "version": version, "origin": "pip", "missing": ()}
    return _make(LibraryFile, defaults, changes)


def library(component: str, **changes: Any) -> Library:
    """One library of TensorFlow 2.20, found in its pip wheel."""
    soname, folder, version = _OPENED[component]
    defaults = {
        "soname": soname,
        "component": component,
        "needed": component != "cupti",
        "picked": library_file(f"{SITE}/nvidia/{folder}/lib/{soname}", version),
        "how": "RUNPATH of libtensorflow_framework.so.2",
        "copies": (),
        "caller": "libtensorflow_framework.so.2",
    }
    return _make(Library, defaults, changes)


def libraries(*changed: Library, **changes: Any) -> Libraries:
    """Every library of TensorFlow 2.20, found; `changed` replaces the one of the same component."""
    have = {name: library(name) for name in _OPENED}
    have.update((entry.component, entry) for entry in changed)
    defaults = {"libraries": tuple(have.values()), "search_path": (f"{SITE}/nvidia/cublas/lib",), "source": "ELF"}
    return _make(Libraries, defaults, changes)


def driver_library(**changes: Any) -> DriverLibrary:
    file = library_file("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "550.107.02", origin="system")
    defaults = {"picked": file, "how": "ld.so.cache", "others": (), "source": "ld.so.cache"}
    return _make(DriverLibrary, defaults, changes)


def toolkits(**changes: Any) -> Toolkits:
    """No toolkit on disk: TensorFlow does not need one."""
    return _make(Toolkits, {"toolkits": (), "default": "", "source": "/usr/local"}, changes)


def xla_tools(**changes: Any) -> XlaTools:
    nvcc = f"{SITE}/nvidia/cuda_nvcc"
    defaults = {
        "ptxas": f"{nvcc}/bin/ptxas",
        "ptxas_version": "12.9",
        "libdevice": f"{nvcc}/nvvm/libdevice/libdevice.10.bc",
        "libdevice_elsewhere": (),
        "source": SITE,
    }
    return _make(XlaTools, defaults, changes)


def log_match(cause: str, text: str = "", lines: tuple[int, ...] = (1,), **values: str) -> LogMatch:
    """A known error as a log printed it."""
    return LogMatch(cause, lines, text, values)


# Running a rule ------------------------------------------------------------------------------------------------------


def fact_types() -> frozenset[type]:
    """Every fact that some rule needs or a probe module declares."""
    folder = Path(tfdoctor.probes.__path__[0])
    kinds: set[type] = {Tables}
    for path in sorted(folder.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                module = __import__(f"tfdoctor.probes.{path.stem}", fromlist=["x"])
                kinds.add(getattr(module, node.name))
    return frozenset(k for k in kinds if dataclasses.is_dataclass(k) or k is Tables)


def engine_facts(given: Iterable[Any], rests: Mapping[type, str] = {}) -> engine.Facts:
    """`given` with the tables; a fact in `rests` is not applicable, any other could not be looked at."""
    have = [tables(), *given]
    known = {type(g) for g in have}
    probes = [_absent(kind, rests.get(kind)) for kind in fact_types() if kind not in known]
    return engine.Facts(have, probes)


def _absent(kind: type, rest: Optional[str]) -> engine.Probe:
    def look() -> Any:
        raise NotApplicable(rest) if rest else Unavailable(f"this test does not give {kind.__name__}")

    return engine.Probe(kind, look, {})


def run(rule: Rule, *given: Any, rests: Mapping[type, str] = {}) -> Outcome:
    """Run `rule` over the given facts. A crash of the rule fails the test."""
    outcome = engine.run_rule(rule, engine_facts(given, rests))
    assert outcome.status is not Status.CRASHED, outcome.reason
    return outcome


def found(rule: Rule, *given: Any, rests: Mapping[type, str] = {}) -> Diagnosis:
    """The one diagnosis that `rule` must make of the given facts."""
    outcome = run(rule, *given, rests=rests)
    assert outcome.status is Status.FOUND, (outcome.status, outcome.reason)
    assert len(outcome.diagnoses) == 1, outcome.diagnoses
    return outcome.diagnoses[0]


def silent(rule: Rule, *given: Any, rests: Mapping[type, str] = {}) -> bool:
    """Whether `rule` ran (or rested) and found nothing: False when it found something or lacked a fact."""
    outcome = run(rule, *given, rests=rests)
    return outcome.status in (Status.OK, Status.NOT_APPLICABLE)


# Whole machines --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    """A machine as facts, and what does not arise there (fact type -> why)."""

    name: str
    given: tuple[Any, ...]
    rests: Mapping[type, str]

    def but(self, *changed: Any, without: Iterable[type] = (), rests: Mapping[type, str] = {}) -> Machine:
        """The same machine with other facts; `without` could not be looked at, `rests` does not arise."""
        gone = {type(c) for c in changed} | set(without) | set(rests)
        kept = tuple(g for g in self.given if type(g) not in gone)
        resting = {k: v for k, v in self.rests.items() if k not in {type(c) for c in changed} | set(without)}
        return replace(self, given=kept + changed, rests={**resting, **rests})

    def named(self, name: str) -> Machine:
        return replace(self, name=name)

    def facts(self) -> engine.Facts:
        return engine_facts(self.given, self.rests)

    def found(self, rule: Rule) -> Diagnosis:
        """The one diagnosis that `rule` must make of this machine."""
        return found(rule, *self.given, rests=self.rests)

    def silent(self, rule: Rule) -> bool:
        """Whether `rule` ran (or rested) here and found nothing."""
        return silent(rule, *self.given, rests=self.rests)

    def outcomes(self, *rules: Rule) -> tuple[Outcome, ...]:
        """Every rule over this machine (all rules when none is given), folded."""
        return engine.run_rules([r for r in rules or engine.all_rules() if not r.log_only], self.facts())

    def codes(self, *rules: Rule) -> dict[str, Optional[str]]:
        """Code of what was found -> the code that it is folded under."""
        return {o.rule.code: o.folded_under for o in self.outcomes(*rules) if o.status is Status.FOUND}


_NO_WSL = {Wsl: "this is not WSL", Jetson: "this is not a Jetson", Rocm: "no AMD GPU on this machine"}
_NO_SWITCH = {**_NO_WSL, Fabric: "no NVSwitch on this machine"}
_PYTHON = (interpreter(), distributions(), tensorflow_packages(), tensorflow(), libraries(), toolkits(), xla_tools())
_HOST = (platform(), cpu(), memory(), shm(), limits(), container(), cloud(), job(), environment())
_DRIVER = (
    nvml(),
    driver(),
    kernel_driver(),
    kernel_module_file(),
    kernel_settings(),
    installed_driver(),
    kernel_log(),
    driver_library(),
    nvidia_smi(),
)


def _workstation() -> Machine:
    own = (gpu_machine(), gpus(), topology(), pci(), device_nodes())
    return Machine("workstation with one RTX 3090", _HOST + _DRIVER + _PYTHON + own, _NO_SWITCH)


def _h100(index: int) -> Gpu:
    links = tuple(NvLink(i, True, 4, "", "switch", 26.5, 0) for i in range(18))
    return gpu(
        index,
        name="NVIDIA H100 80GB HBM3",
        bus=_h100_bus(index),
        compute_capability="9.0",
        memory_total=80 * GIB,
        pcie=pcie(5, 16, 5),
        ecc=Ecc(True, True, 0, 0, 0, 0, 0),
        rows=RowRemap(0, 0, False, False),
        mig=False,
        temperature=32,
        temperature_slowdown=89,
        temperature_max_operating=87,
        power=70.0,
        power_limit=700.0,
        power_limit_default=700.0,
        clock_sm=1980,
        clock_sm_max=1980,
        performance_state=0,
        nvlinks=links,
        numa_node=index // 4,
        cpu_affinity="0-51" if index < 4 else "52-103",
        fabric_state="completed",
        fabric_status=0,
    )


def _h100_bus(index: int) -> str:
    return f"0000:{('19', '3b', '4c', '5d', '9b', 'bb', 'cb', 'db')[index]}:00.0"


def _h100_server() -> Machine:
    cards = tuple(_h100(i) for i in range(8))
    pairs = [(i, j) for i in range(8) for j in range(i + 1, 8)]
    devices = [
        pci_device(
            address=_h100_bus(i),
            device="2330",
            device_class="0302",
            name="GH100 [H100 SXM5 80GB]",
            numa_node=i // 4,
            link=Link(5, 16, 5, 16),
            upstream=(Link(5, 16, 5, 16),),
            bars=(16 * MIB, 128 * GIB, 32 * MIB),
        )
        for i in range(8)
    ]
    devices += [
        pci_device(
            address=f"0000:{i:02x}:00.0",
            device="22a3",
            device_class="0680",
            name="GH100 [H100 NVSwitch]",
            driver="nvidia-nvswitch",
            link=Link(4, 2, 4, 2),
            upstream=(Link(4, 2, 4, 16),),
        )
        for i in range(5, 9)
    ]
    own = (
        gpu_machine(count=8),
        gpus(*cards),
        pci(*devices),
        device_nodes(cards=8),
        topology(dict.fromkeys(pairs, "NV18"), dict.fromkeys(pairs, "OK")),
        driver(version="570.133.20", cuda="12.8"),
        nvml(library_version="570.133.20"),
        kernel_driver(loaded_version="570.133.20"),
        kernel_module_file(version="570.133.20"),
        installed_driver(
            packages={"nvidia-driver-570-server": "570.133.20-0ubuntu1"},
            libraries=("/usr/lib/x86_64-linux-gnu/libcuda.so.570.133.20",),
            library_versions=frozenset({"570.133.20"}),
            fabric_manager="570.133.20",
        ),
        fabric(version="570.133.20"),
        nvidia_smi(version="570.133.20"),
        driver_library(picked=library_file("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "570.133.20", origin="system")),
        cpu(model="Intel Xeon Platinum 8480C", cores=104),
        memory(total=2048 * GIB, available=1900 * GIB),
        shm(total=1024 * GIB, free=1020 * GIB),
        cloud(product="PowerEdge XE9680"),
    )
    return WORKSTATION.but(*own).named("server with eight H100 and NVSwitch")


def _t4_container() -> Machine:
    """A T4 of a cloud machine: eight lanes where the card could do sixteen, by the cloud's design; no root, no kernel log."""
    card = gpu(
        name="Tesla T4",
        bus="0000:00:1e.0",
        compute_capability="7.5",
        memory_total=15 * GIB,
        pcie=PcieLink(1, 8, 3, 16, 3, 3),
        ecc=Ecc(True, True, 0, 0, 0, 0, None),
        temperature=38,
        temperature_slowdown=93,
        temperature_max_operating=85,
        power=9.0,
        power_limit=70.0,
        power_limit_default=70.0,
        clock_sm=300,
        clock_sm_max=1590,
        numa_node=None,
        cpu_affinity="0-3",
        virtualization="pass-through",
    )
    device = pci_device(
        address="0000:00:1e.0",
        device="1eb8",
        device_class="0302",
        name="TU104GL [Tesla T4]",
        numa_node=-1,
        driver="nvidia",
        link=Link(1, 8, 3, 16),
        upstream=(),
        bars=(16 * MIB, 256 * MIB, 32 * MIB),
    )
    own = (
        gpu_machine(evidence="0000:00:1e.0 on the PCI bus"),
        gpus(card),
        pci(device),
        container(kind="docker"),
        cloud(provider="aws", instance_type="g4dn.xlarge", virtual=True, product="g4dn.xlarge"),
        cpu(model="Intel Xeon Platinum 8259CL", cores=4),
        memory(total=16 * GIB, available=14 * GIB),
        shm(total=8 * GIB, free=8 * GIB),
        limits(memlock=8 * MIB),
        device_nodes(*(device_node(f"/dev/nvidia{n}") for n in ("0", "ctl", "-uvm", "-uvm-tools"))),
        environment(NVIDIA_VISIBLE_DEVICES="all", NVIDIA_DRIVER_CAPABILITIES="compute,utility"),
        installed_driver(packages={}),
        interpreter(path="/usr/bin/python3", kind="system", prefix="/usr", source="/usr/bin/python3"),
        kernel_settings(secure_boot=None, iommu_groups=None, acs_redirects=None),
    )
    return WORKSTATION.but(*own, without=(KernelLog, KernelModuleFile)).named("T4 of a cloud, in a container")


def _wsl_laptop() -> Machine:
    """A laptop with WSL2: /dev/dxg, no /dev/nvidia*, no kernel module, nothing on the PCI bus that is NVIDIA's."""
    card = gpu(
        name="NVIDIA GeForce RTX 4070 Laptop GPU",
        compute_capability="8.9",
        memory_total=8 * GIB,
        memory_used=1 * GIB,
        bus="0000:01:00.0",
        pcie=PcieLink(4, 8, 4, 8, None, None),
        persistence=True,
        display=True,
        throttle=frozenset({"idle"}),
        temperature=48,
        temperature_slowdown=None,
        temperature_max_operating=None,
        power=8.0,
        power_limit=None,
        power_limit_default=None,
        clock_sm_max=3105,
        processes=None,
        nvlinks=None,
        numa_node=None,
        cpu_affinity="",
    )
    file = library_file("/usr/lib/wsl/lib/libcuda.so.1", "", origin="wsl")
    own = (
        platform(kernel="5.15.153.1-microsoft-standard-WSL2", wsl=2),
        wsl(),
        gpus(card),
        Pci((), "/sys/bus/pci/devices"),
        gpu_machine(evidence="/dev/dxg", source="/dev/dxg"),
        driver(version="560.94", cuda="12.6", model=""),
        nvml(library_version="560.35.02"),
        nvidia_smi(version="560.35.02"),
        kernel_driver(loaded_version="", flavour="", modules=frozenset(), params={}),
        kernel_module_file(path="", version="", signer="", headers=False),
        installed_driver(packages={}, libraries=("/usr/lib/wsl/lib/libcuda.so.1",), library_versions=frozenset()),
        driver_library(picked=file),
        DeviceNodes((device_node("/dev/dxg"),), "/dev"),
        kernel_settings(secure_boot=None, iommu_groups=0),
        cloud(virtual=True, product=""),
        cpu(model="Intel Core i7-13700H", cores=20),
        memory(total=16 * GIB, available=12 * GIB),
        shm(total=8 * GIB, free=8 * GIB),
        limits(memlock=64 * MIB),
    )
    laptop = WORKSTATION.but(*own)
    resting = {k: v for k, v in laptop.rests.items() if k is not Wsl}
    return replace(laptop, name="laptop with WSL2", rests=resting)


def bridged(index: int, links: int = 4) -> Gpu:
    """An RTX 3090 with an NVLink bridge, `links` of its four links up."""
    other = f"0000:{2 - index:02x}:00.0"
    return gpu(
        index,
        nvlinks=tuple(
            NvLink(i, i < links, 3, other if i < links else "", "gpu" if i < links else "", 14.0625, 0)
            for i in range(4)
        ),
    )


def _two_3090() -> Machine:
    devices = (pci_device(), pci_device(address="0000:02:00.0"))
    own = (
        gpu_machine(count=2),
        gpus(bridged(0), bridged(1)),
        pci(*devices),
        device_nodes(cards=2),
        topology({(0, 1): "NV4"}, {(0, 1): "OK"}),
    )
    return WORKSTATION.but(*own).named("two RTX 3090 with an NVLink bridge")


def _mig_a100() -> Machine:
    card = gpu(
        name="NVIDIA A100 80GB PCIe",
        compute_capability="8.0",
        memory_total=80 * GIB,
        mig=True,
        mig_instances=(
            MigInstance("3g.40gb", 40 * GIB, "MIG-11111111-2222-3333-4444-555555555555"),
            MigInstance("2g.20gb", 20 * GIB, "MIG-66666666-2222-3333-4444-555555555555"),
        ),
        ecc=Ecc(True, True, 0, 0, 0, 0, 0),
        rows=RowRemap(0, 0, False, False),
        temperature_slowdown=92,
        temperature_max_operating=85,
        power=60.0,
        power_limit=300.0,
        power_limit_default=300.0,
        clock_sm_max=1410,
        utilization=None,
        nvlinks=None,
    )
    device = pci_device(
        device="20b5", device_class="0302", name="GA100 [A100 PCIe 80GB]", bars=(16 * MIB, 128 * GIB, 32 * MIB)
    )
    own = (gpus(card), pci(device), environment(CUDA_VISIBLE_DEVICES="MIG-11111111-2222-3333-4444-555555555555"))
    return WORKSTATION.but(*own).named("A100 cut into MIG instances")


def _cpu_only() -> Machine:
    none = "no NVIDIA GPU on this machine"
    gone = dict.fromkeys((GpuMachine, Gpus, Driver, Topology), none)
    own = (
        Pci((), "/sys/bus/pci/devices"),
        nvml(state="library-missing", code=12, error="NVML Shared Library Not Found", library_version=""),
        kernel_driver(loaded_version="", flavour="", modules=frozenset(), params={}),
        kernel_module_file(path="", version="", signer=""),
        installed_driver(packages={}, libraries=(), library_versions=frozenset()),
        DeviceNodes((), "/dev"),
        nvidia_smi(problem="missing", code=None, version=""),
        driver_library(picked=None, how=""),
    )
    return WORKSTATION.but(*own, rests=gone).named("machine without a GPU")


WORKSTATION = _workstation()
H100_SERVER = _h100_server()
T4_CONTAINER = _t4_container()
WSL_LAPTOP = _wsl_laptop()
TWO_3090 = _two_3090()
MIG_A100 = _mig_a100()
CPU_ONLY = _cpu_only()

#: Machines on which TensorFlow uses every GPU.
HEALTHY = (WORKSTATION, H100_SERVER, T4_CONTAINER, WSL_LAPTOP, TWO_3090, MIG_A100)
MACHINES = (*HEALTHY, CPU_ONLY)
