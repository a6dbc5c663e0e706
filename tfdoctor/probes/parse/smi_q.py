"""`nvidia-smi -q` as text: sections by indentation, `name : value` lines. Excerpts are read as far as they go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Optional

from tfdoctor.probes.nvml import Gpu, GpuProcess, MigInstance
from tfdoctor.probes.parse.report import SmiReport, build_gpu, build_process
from tfdoctor.probes.parse.values import MOST_TEXT, bus_address, integer, mebibytes, says_lost, value_of, version_of

LINK = "PCI/GPU Link Info"
# As in smi_xml.PLACES, with the names that the text gives them; "a//b": b at any depth below a.
PLACES: Mapping[str, tuple[str, ...]] = {
    "name": ("Product Name",),
    "bus": ("PCI/Bus Id",),
    "uuid": ("GPU UUID",),
    "memory.total": ("FB Memory Usage/Total",),
    "memory.used": ("FB Memory Usage/Used",),
    "pcie.generation": (f"{LINK}/PCIe Generation/Current",),
    "pcie.max_generation": (f"{LINK}/PCIe Generation/Max",),
    "pcie.gpu_max_generation": (f"{LINK}/PCIe Generation/Device Max",),
    "pcie.host_max_generation": (f"{LINK}/PCIe Generation/Host Max",),
    "pcie.width": (f"{LINK}/Link Width/Current",),
    "pcie.max_width": (f"{LINK}/Link Width/Max",),
    "ecc.current": ("ECC Mode/Current", "Ecc Mode/Current"),
    "ecc.pending": ("ECC Mode/Pending", "Ecc Mode/Pending"),
    **{
        f"ecc.{when.lower()}.{name}": (f"ECC Errors/{when}/{place}",)
        for when in ("Volatile", "Aggregate")
        for name, place in {
            "sram_corrected": "SRAM Correctable",
            "sram_uncorrected": "SRAM Uncorrectable",
            "sram_parity": "SRAM Uncorrectable Parity",
            "sram_secded": "SRAM Uncorrectable SEC-DED",
            "dram_corrected": "DRAM Correctable",
            "dram_uncorrected": "DRAM Uncorrectable",
            "single_bit": "Single Bit/Total",
            "double_bit": "Double Bit/Total",
        }.items()
    },
    "rows.corrected": ("Remapped Rows/Correctable Error",),
    "rows.uncorrected": ("Remapped Rows/Uncorrectable Error",),
    "rows.pending": ("Remapped Rows/Pending",),
    "rows.failed": ("Remapped Rows/Remapping Failure Occurred",),
    "pages.single_bit": ("Retired Pages/Single Bit ECC",),
    "pages.double_bit": ("Retired Pages/Double Bit ECC",),
    "pages.pending": ("Retired Pages/Pending Page Blacklist", "Retired Pages/Pending"),
    "mig": ("MIG Mode/Current",),
    "compute_mode": ("Compute Mode",),
    "persistence": ("Persistence Mode",),
    "display": ("Display Active",),
    "temperature": ("Temperature/GPU Current Temp",),
    "temperature.slowdown": ("Temperature/GPU Slowdown Temp",),
    "temperature.max_operating": ("Temperature/GPU Max Operating Temp",),
    "power": (
        "GPU Power Readings//Power Draw",
        "GPU Power Readings//Instantaneous Power Draw",
        "GPU Power Readings//Average Power Draw",
        "Power Readings/Power Draw",
    ),
    "power.limit": (
        "GPU Power Readings//Current Power Limit",
        "Power Readings/Enforced Power Limit",
        "Power Readings/Power Limit",
    ),
    "power.limit_default": ("GPU Power Readings//Default Power Limit", "Power Readings/Default Power Limit"),
    "clock.sm": ("Clocks/SM",),
    "clock.sm_max": ("Max Clocks/SM",),
    "performance_state": ("Performance State",),
    "utilization": ("Utilization/Gpu", "Utilization/GPU"),
    "fabric.state": ("Fabric/State",),
    "fabric.status": ("Fabric/Status",),
    "virtualization": ("GPU Virtualization Mode/Virtualization Mode", "GPU Virtualization Mode/Virtualization mode"),
    "license": (
        "vGPU Software Licensed Product/License Status",
        "GRID Licensed Product/License Status",
    ),
}

REASONS = {
    "Idle": "gpu_idle",
    "Applications Clocks Setting": "applications_clocks_setting",
    "SW Power Cap": "sw_power_cap",
    "HW Slowdown": "hw_slowdown",
    "HW Thermal Slowdown": "hw_thermal_slowdown",
    "HW Power Brake Slowdown": "hw_power_brake_slowdown",
    "Sync Boost": "sync_boost",
    "SW Thermal Slowdown": "sw_thermal_slowdown",
    "Display Clock Setting": "display_clocks_setting",
}


@dataclass
class Node:
    """A line of the report and the lines indented below it."""

    name: str
    value: Optional[str]
    children: list[Node] = field(default_factory=list)

    def child(self, name: str) -> Optional[Node]:
        """The first child of that name."""
        return next((c for c in self.children if c.name == name), None)

    def at(self, place: str) -> Optional[Node]:
        """The node at "a/b/c" below this one."""
        node: Optional[Node] = self
        for name in place.split("/"):
            node = node.child(name) if node else None
        return node

    def below(self) -> Iterator[Node]:
        """Every node below this one."""
        waiting = list(reversed(self.children))
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


def parse(text: str) -> Optional[SmiReport]:
    """The report, or None when the text is no `nvidia-smi -q`."""
    if not re.search(r"NVSMI LOG|^\s*Attached GPUs\s+:|^(?:Driver|KMD) Version\s+:", text, re.M):
        return None
    top = _tree(text)
    gpus = [node for node in top.children if re.match(r"GPU [0-9A-Fa-f]{4,8}:", node.name)]
    attached = top.child("Attached GPUs")
    return SmiReport(
        driver=_version(top, "KMD Version", "Driver Version"),
        cuda=_version(top, "CUDA UMD Version", "CUDA Version"),
        model=_driver_model(gpus),
        gpus=tuple(_gpu(i, node) for i, node in enumerate(gpus)),
        attached=integer(attached.value) if attached else None,
    )


def _tree(text: str) -> Node:
    top = Node("", None)
    above: list[tuple[int, Node]] = [(-1, top)]
    for line in text[:MOST_TEXT].splitlines():
        body = line.strip()
        if not body or body.startswith("="):
            continue
        name, colon, value = body.partition(" : ")
        if not colon and body.endswith(" :"):
            name, colon = body[:-2], ":"
        node = Node(name.strip(), value.strip() if colon else None)
        depth = len(line) - len(line.lstrip())
        while above[-1][0] >= depth:
            above.pop()
        above[-1][1].children.append(node)
        above.append((depth, node))
    return top


def _version(top: Node, *names: str) -> str:
    nodes = (top.child(name) for name in names)
    return next((version for node in nodes if node and (version := version_of(node.value))), "")


def _driver_model(gpus: list[Node]) -> str:
    nodes = (gpu.at("Driver Model/Current") for gpu in gpus)
    models = (value_of(node.value).casefold() for node in nodes if node)
    return next((model for model in models if model in ("wddm", "tcc", "mcdm")), "")


def _gpu(index: int, gpu: Node) -> Gpu:
    def look(name: str) -> Optional[str]:
        printed = [found for place in PLACES[name] if (found := _find(gpu, place)) is not None]
        return next((p for p in printed if value_of(p)), printed[0] if printed else None)

    lost = any(says_lost(node.value) or says_lost(node.name) for node in gpu.below())
    bus = bus_address(gpu.name.partition(" ")[2])
    return build_gpu(index, bus, look, _reasons(gpu), _mig(gpu), _processes(gpu), lost)


def _find(gpu: Node, place: str) -> Optional[str]:
    above, deep, leaf = place.rpartition("//")
    if not deep:
        node = gpu.at(place)
        return node.value if node else None
    section = gpu.at(above)
    return next((node.value for node in section.below() if node.name == leaf), None) if section else None


def _reasons(gpu: Node) -> dict[str, Optional[str]]:
    found: dict[str, Optional[str]] = {}
    for title in ("Clocks Event Reasons", "Clocks Throttle Reasons"):
        section = gpu.child(title)
        for node in section.below() if section else ():
            found[REASONS.get(node.name, node.name)] = node.value
    return found


def _mig(gpu: Node) -> tuple[MigInstance, ...]:
    devices = [node for node in gpu.children if node.name == "MIG Device"]
    found = []
    for device in devices:
        total = device.at("Shared FB Memory Usage/Total") or device.at("FB Memory Usage/Total")
        found.append(MigInstance("", mebibytes(total.value) if total else None))
    return tuple(found)


def _processes(gpu: Node) -> Optional[tuple[GpuProcess, ...]]:
    section = gpu.child("Processes")
    if section is None or (section.value is not None and section.value != "None"):
        return None
    found: dict[int, GpuProcess] = {}
    for node in section.children:
        if node.name != "Process ID":
            continue
        told = {child.name: child.value for child in node.children}
        process = build_process(node.value, told.get("Type"), told.get("Name"), told.get("Used GPU Memory"))
        if process:
            found.setdefault(process.pid, process)
    return tuple(found.values())
