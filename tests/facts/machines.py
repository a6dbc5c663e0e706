"""Whole machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Optional

from facts.base import GIB, MIB
from facts.hardware import (
    device_node,
    device_nodes,
    driver,
    fabric,
    gpu,
    gpu_machine,
    gpus,
    installed_driver,
    kernel_driver,
    kernel_log,
    kernel_module_file,
    kernel_settings,
    nvidia_smi,
    nvml,
    pci,
    pci_device,
    pcie,
    topology,
)
from facts.python import (
    distributions,
    driver_library,
    interpreter,
    libraries,
    library_file,
    tensorflow,
    tensorflow_packages,
    toolkits,
    xla_tools,
)
from facts.running import engine_facts, found, silent
from facts.surroundings import cloud, container, cpu, environment, job, limits, memory, platform, shm, wsl
from tfdoctor import engine
from tfdoctor.model import Diagnosis, Outcome, Rule, Status
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.fabric import Fabric
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import KernelModuleFile
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import (
    Driver,
    Ecc,
    Gpu,
    Gpus,
    MigInstance,
    NvLink,
    PcieLink,
    RowRemap,
    Topology,
)
from tfdoctor.probes.pci import Link, Pci
from tfdoctor.probes.rocm import Rocm
from tfdoctor.probes.surroundings import Jetson, Wsl


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
