"""A stand-in libnvidia-ml.so.1 for tests: the builder and ready profiles.

    env = fake_nvml.environment(fake_nvml.rtx3090_pair(), tmp_path)
    subprocess.run([...], env={**os.environ, **env})
    fake_nvml.calls(env)      # every NVML call that was made

The profile language (`key value` lines; `!N` answers with NVML error N; a missing key is "not supported";
`gpu.*.KEY` is every GPU's default) is described in PROFILE.md beside this file. Only a child process sees the
library: LD_LIBRARY_PATH is read when a process starts.

Sizes, identifiers and limits are the published ones of these cards; UUIDs and serials are made up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Optional

import fake_build
from fake_build import Profile, Value, merge, need_compiler

__all__ = [
    "NEWER_SYMBOLS",
    "Profile",
    "a100_mig",
    "build",
    "busy_gpu",
    "calls",
    "crashing",
    "ecc_errors",
    "environment",
    "gtx1080",
    "h100x8",
    "hanging",
    "init_fails",
    "lost_gpu",
    "merge",
    "mixed_pair",
    "need_compiler",
    "no_gpu",
    "old_driver",
    "row_remap_failure",
    "row_remap_pending",
    "rtx3090",
    "rtx3090_pair",
    "t4",
    "v100",
]

VARIABLE = "TFDOCTOR_FAKE_NVML"
LIBRARY = "libnvidia-ml.so.1"
SOURCE = Path(__file__).with_name("fake_nvml.c")

# Exported by current drivers, not by those of 2021 (branch 470).
NEWER_SYMBOLS = (
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetGraphicsRunningProcesses_v3",
    "nvmlDeviceGetMPSComputeRunningProcesses_v3",
    "nvmlDeviceGetCurrentClocksEventReasons",
    "nvmlDeviceGetSupportedClocksEventReasons",
    "nvmlDeviceGetGpuFabricInfo",
    "nvmlDeviceGetGpuFabricInfoV",
    "nvmlDeviceGetNumaNodeId",
    "nvmlDeviceGetGspFirmwareVersion",
    "nvmlDeviceGetGspFirmwareMode",
    "nvmlDeviceGetAddressingMode",
    "nvmlDeviceGetPciInfoExt",
    "nvmlDeviceGetTemperatureV",
    "nvmlDeviceGetPcieLinkMaxSpeed",
    "nvmlDeviceGetPcieSpeed",
    "nvmlDeviceGetGpuMaxPcieLinkGeneration",
    "nvmlSystemGetDriverBranch",
    "nvmlSystemGetConfComputeState",
    "nvmlDeviceGetDriverModel_v2",
)


def build(directory: Path, without: Sequence[str] = ()) -> Path:
    """Compile the library into `directory`, leaving out the symbols of `without`; its path."""
    return fake_build.compile_library(SOURCE, directory / LIBRARY, without)


def environment(profile: Profile, directory: Path, without: Sequence[str] = ()) -> dict[str, str]:
    """Variables for a child process that is to see the machine of `profile`."""
    library = fake_build.cached_library(SOURCE, LIBRARY, tuple(without))
    return fake_build.environment(VARIABLE, library, profile, directory)


def calls(env: Mapping[str, str]) -> list[str]:
    """The NVML calls made so far: `nvmlDeviceGetName gpu=0`."""
    return fake_build.calls(env, VARIABLE)


def system(gpus: Sequence[Mapping[str, Value]], **more: Value) -> Profile:
    """A machine with these GPUs and a driver of branch 550 unless told otherwise."""
    values: dict[str, Value] = {
        "driver": "550.54.14",
        "nvml": "12.550.54.14",
        "cuda_driver": 12040,
        "driver_branch": "r550_00",
        "init": 0,
        "count": len(gpus),
        "topology.*.*": 20,
        **{f"p2p.*.*.{cap}": 0 for cap in ("read", "write", "atomics", "prop")},
        "p2p.*.*.nvlink": 5,
    }
    values.update({key.replace("__", "."): value for key, value in more.items()})
    values.update(fake_build.indexed("gpu", gpus))
    return Profile(values)


def _card(index: int, **own: Value) -> dict[str, Value]:
    """What every card answers when it is idle and well."""
    bus = 1 + 0x10 * index
    values: dict[str, Value] = {
        "uuid": f"GPU-00000000-0000-4000-8000-{index:012x}",
        "minor": index,
        "board_id": bus << 8,
        "pci": f"00000000:{bus:02X}:00.0",
        "vbios": "90.00.00.00.01",
        "brand": 14,
        "memory_used_mib": 1,
        "bar1_used_mib": 2,
        "pcie_gen": 1,
        "pcie_width": 16,
        "pcie_width_max": 16,
        "pcie_replay": 0,
        "pcie_throughput": "0 0",
        "compute_mode": 0,
        "persistence": 0,
        "display_active": 0,
        "display_mode": 0,
        "clocks_event_reasons": "0x1",
        "clocks_supported_reasons": "0x1ff",
        "temperature": 34,
        "pstate": 8,
        "utilisation": "0 0",
        "power_management": 1,
        "numa_node": 0,
        "cpu_affinity": "0-15",
        "memory_affinity": "0",
        "virtualization_mode": 0,
        "addressing_mode": 0,
        "energy": 1000,
        "violation.power": 0,
        "violation.thermal": 0,
        "clock.graphics": 210,
        "clock.sm": 210,
        "clock.mem": 405,
        "clock.video": 555,
        "compute_processes": "",
        "graphics_processes": "",
        "mps_processes": "",
    }
    values.update({key.replace("__", "."): value for key, value in own.items()})
    return values


def _pcie(generation: int) -> dict[str, Value]:
    mbps = {3: 8000, 4: 16000, 5: 32000}[generation]
    return {
        "pcie_gen_max": generation,
        "pcie_gen_gpu_max": generation,
        "pcie_link_max_speed": generation,
        "pcie_speed": mbps,
    }


def _power(default: int, low: int, high: int, draw: int) -> dict[str, Value]:
    watts = {
        "power_limit": default,
        "power_limit_default": default,
        "power_limit_enforced": default,
        "power_limit_min": low,
        "power_limit_max": high,
        "power_usage": draw,
    }
    return {key: value * 1000 for key, value in watts.items()}


def _ecc() -> dict[str, Value]:
    values: dict[str, Value] = {"ecc": "1 1", "ecc_default": 1}
    for counter in ("volatile", "aggregate"):
        for kind in ("corrected", "uncorrected"):
            values.update({f"ecc.{counter}.{kind}{place}": 0 for place in ("", ".dram", ".sram", ".l2", ".regs")})
    return values


def _row_remapping(banks: int) -> dict[str, Value]:
    return {"remapped_rows": "0 0 0 0", "remap_histogram": f"{banks} 0 0 0 0"}


def _links(count: int, version: int, speed_mbps: int, **each: Value) -> dict[str, Value]:
    """`version` is NVML's number: 3 is NVLink 2.2, 4 is 3.0, 5 is 3.1, 6 is 4.0."""
    values: dict[str, Value] = {
        "nvlink_count": count,
        "nvlink.*.state": 1,
        "nvlink.*.version": version,
        "nvlink.*.cap": "1 1 1 1 0 1",
        "nvlink.*.speed_mbps": speed_mbps,
        **{f"nvlink.*.error.{kind}": 0 for kind in ("replay", "recovery", "crc_flit", "crc_data")},
    }
    values.update({f"nvlink.*.{key}": value for key, value in each.items()})
    return values


def _thresholds(shutdown: int, slowdown: int, gpu_max: int) -> dict[str, Value]:
    return {
        "temperature_threshold.shutdown": shutdown,
        "temperature_threshold.slowdown": slowdown,
        "temperature_threshold.gpu_max": gpu_max,
    }


def _clocks(graphics: int, memory: int) -> dict[str, Value]:
    return {
        "clock_max.graphics": graphics,
        "clock_max.sm": graphics,
        "clock_max.mem": memory,
        "clock_max.video": 1950,
    }


def card_3090(index: int, **own: Value) -> dict[str, Value]:
    """GeForce RTX 3090, no bridge: its four links are there and down."""
    values: dict[str, Value] = {
        "name": "NVIDIA GeForce RTX 3090",
        "architecture": 7,
        "compute_capability": "8.6",
        "cores": 10496,
        "bus_width": 384,
        "brand": 5,
        "pci_device_id": "0x220410DE",
        "pci_subsystem_id": "0x147D10DE",
        "memory_total_mib": 24576,
        "memory_reserved_mib": 307,
        "bar1_total_mib": 256,
        "fan": 30,
        "gsp_mode": "0 0",
        "nvlink_count": 4,
        "nvlink.*.state": 0,
        **_pcie(4),
        **_power(350, 100, 366, 22),
        **_thresholds(98, 95, 93),
        **_clocks(2100, 9751),
    }
    return _card(index, **{**values, **own})


def card_h100(index: int, **own: Value) -> dict[str, Value]:
    """H100 SXM5 80 GB on an NVSwitch board, fabric manager done."""
    node = index // 4
    values: dict[str, Value] = {
        "name": "NVIDIA H100 80GB HBM3",
        "architecture": 9,
        "compute_capability": "9.0",
        "cores": 16896,
        "bus_width": 5120,
        "pci_device_id": "0x233010DE",
        "pci_subsystem_id": "0x16C110DE",
        "serial": f"100000000000{index}",
        "board_part_number": "692-2G520-0200-000",
        "memory_total_mib": 81559,
        "memory_reserved_mib": 551,
        "bar1_total_mib": 131072,
        "temperature_memory": 38,
        "persistence": 1,
        "pcie_gen": 5,
        "pstate": 0,
        "mig": "0 0",
        "mig_max": 7,
        "gsp_mode": "1 1",
        "gsp_version": "550.54.14",
        "numa_node": node,
        "memory_affinity": str(node),
        "cpu_affinity": "0-47,96-143" if node == 0 else "48-95,144-191",
        "fabric": "3 0 0",
        "fabric_health_mask": "0x2",
        "fabric_health_summary": 1,
        "fabric_cluster": "00000000000000000000000000000000",
        **_pcie(5),
        **_power(700, 200, 700, 72),
        **_thresholds(92, 89, 87),
        **_clocks(1980, 2619),
        **_ecc(),
        **_row_remapping(2560),
        **_links(18, 6, 26562, remote_type=2, remote_pci_device_id="0x22A310DE"),
        **{f"nvlink.{link}.remote_pci": f"00000000:{0xC5 + link % 4:02X}:00.0" for link in range(18)},
    }
    return _card(index, **{**values, **own})


def card_a100(index: int, **own: Value) -> dict[str, Value]:
    """A100 SXM4 80 GB."""
    values: dict[str, Value] = {
        "name": "NVIDIA A100-SXM4-80GB",
        "architecture": 7,
        "compute_capability": "8.0",
        "cores": 6912,
        "bus_width": 5120,
        "pci_device_id": "0x20B210DE",
        "pci_subsystem_id": "0x147F10DE",
        "serial": f"200000000000{index}",
        "board_part_number": "692-2G506-0212-002",
        "memory_total_mib": 81920,
        "memory_reserved_mib": 592,
        "bar1_total_mib": 131072,
        "temperature_memory": 36,
        "pcie_gen": 4,
        "pstate": 0,
        "mig": "0 0",
        "mig_max": 7,
        "gsp_mode": "1 1",
        "gsp_version": "550.54.14",
        **_pcie(4),
        **_power(400, 100, 400, 61),
        **_thresholds(92, 89, 85),
        **_clocks(1410, 1593),
        **_ecc(),
        **_row_remapping(640),
        **_links(12, 4, 25000, remote_type=2, remote_pci_device_id="0x1AF110DE"),
        **{f"nvlink.{link}.remote_pci": f"00000000:{0xC8 + link % 6:02X}:00.0" for link in range(12)},
    }
    return _card(index, **{**values, **own})


def card_t4(index: int, **own: Value) -> dict[str, Value]:
    """Tesla T4, as clouds pass it through."""
    values: dict[str, Value] = {
        "name": "Tesla T4",
        "architecture": 6,
        "compute_capability": "7.5",
        "cores": 2560,
        "bus_width": 256,
        "pci_device_id": "0x1EB810DE",
        "pci_subsystem_id": "0x12A210DE",
        "serial": f"300000000000{index}",
        "memory_total_mib": 15360,
        "memory_reserved_mib": 388,
        "bar1_total_mib": 256,
        "virtualization_mode": 1,
        "gsp_mode": "0 1",
        "retired.sbe": "",
        "retired.dbe": "",
        "retired_pending": 0,
        **_pcie(3),
        **_power(70, 60, 70, 10),
        **_thresholds(96, 93, 85),
        **_clocks(1590, 5001),
        **_ecc(),
    }
    return _card(index, **{**values, **own})


def card_v100(index: int, **own: Value) -> dict[str, Value]:
    """Tesla V100 SXM2 16 GB."""
    values: dict[str, Value] = {
        "name": "Tesla V100-SXM2-16GB",
        "architecture": 5,
        "compute_capability": "7.0",
        "cores": 5120,
        "bus_width": 4096,
        "pci_device_id": "0x1DB110DE",
        "pci_subsystem_id": "0x121210DE",
        "serial": f"400000000000{index}",
        "memory_total_mib": 16384,
        "memory_reserved_mib": 224,
        "bar1_total_mib": 16384,
        "temperature_memory": 33,
        "retired.sbe": "",
        "retired.dbe": "",
        "retired_pending": 0,
        "pcie_gen": 3,
        "pstate": 0,
        **_pcie(3),
        **_power(300, 150, 300, 42),
        **_thresholds(90, 87, 83),
        **_clocks(1530, 877),
        **_ecc(),
        **_links(6, 2, 25781, remote_type=0),
    }
    return _card(index, **{**values, **own})


def card_1080(index: int, **own: Value) -> dict[str, Value]:
    """GeForce GTX 1080: no ECC, no NVLink."""
    values: dict[str, Value] = {
        "name": "NVIDIA GeForce GTX 1080",
        "architecture": 4,
        "compute_capability": "6.1",
        "cores": 2560,
        "bus_width": 256,
        "brand": 5,
        "pci_device_id": "0x1B8010DE",
        "pci_subsystem_id": "0x119E10DE",
        "memory_total_mib": 8192,
        "memory_reserved_mib": 82,
        "bar1_total_mib": 256,
        "fan": 27,
        **_pcie(3),
        **_power(180, 90, 217, 9),
        **_thresholds(99, 96, 96),
        **_clocks(1911, 5005),
    }
    return _card(index, **{**values, **own})


def rtx3090() -> Profile:
    """One consumer GPU, idle: the PCIe link has stepped down to generation 1, which is harmless."""
    return system([card_3090(0)])


def _bridged(index: int) -> dict[str, Value]:
    other = card_3090(1 - index)["pci"]
    return card_3090(index, **_links(4, 5, 14062, remote_type=0, remote_pci_device_id="0x220410DE", remote_pci=other))


def rtx3090_pair() -> Profile:
    """Two RTX 3090 with an NVLink bridge (NV4)."""
    return system([_bridged(0), _bridged(1)], topology__0__1=30, p2p__0__1__nvlink=0)


def h100x8() -> Profile:
    """Eight H100 on NVSwitches, four to each NUMA node."""
    gpus = [card_h100(i) for i in range(8)]
    pairs: dict[str, Value] = {"p2p.*.*.nvlink": 0, "topology.*.*": 50}
    pairs.update({f"topology.{a}.{b}": 40 for a in range(8) for b in range(a + 1, 8) if a // 4 == b // 4})
    return system(gpus).but(pairs)


def a100_mig() -> Profile:
    """One A100 in MIG mode: 3g.40gb and twice 2g.20gb. NVLink queries are not supported then."""

    def instance(number: int, slices: int, memory: int, sm: int) -> dict[str, Value]:
        profile = f"{slices}g.{20 if slices == 2 else 40}gb"
        return {
            f"mig.{number}.uuid": f"MIG-00000000-0000-4000-9000-{number:012x}",
            f"mig.{number}.name": f"NVIDIA A100-SXM4-80GB MIG {profile}",
            f"mig.{number}.gi": number + 1,
            f"mig.{number}.ci": 0,
            f"mig.{number}.memory_mib": memory,
            f"mig.{number}.used_mib": 12,
            f"mig.{number}.attributes": f"{sm} {slices} {slices - 1} 0 0 0 {slices} {slices} {memory}",
        }

    own: dict[str, Value] = {"mig": "1 1", "nvlink_count": 0, "utilisation": None}
    for part in (instance(0, 3, 40192, 42), instance(1, 2, 19968, 28), instance(2, 2, 19968, 28)):
        own.update(part)
    return system([card_a100(0, **own)])


def t4() -> Profile:
    """One T4 without NVLink, passed through to a virtual machine."""
    return system([card_t4(0)])


def v100() -> Profile:
    """One V100, compute capability 7.0."""
    return system([card_v100(0, nvlink_count=0)])


def gtx1080() -> Profile:
    """One GTX 1080, compute capability 6.1."""
    return system([card_1080(0)])


def mixed_pair() -> Profile:
    """A fast and a slow GPU side by side."""
    return system([card_3090(0), card_1080(1)], topology__0__1=30)


def no_gpu() -> Profile:
    """The driver answers and sees no GPU."""
    return system([])


def lost_gpu() -> Profile:
    """Two A100; the second has fallen off the bus."""
    return system([card_a100(0), card_a100(1, lost=1)])


def ecc_errors() -> Profile:
    """An A100 with uncorrected errors since boot and many corrected ones over its life."""
    counts: dict[str, Value] = {
        "ecc.volatile.uncorrected": 2,
        "ecc.volatile.uncorrected.dram": 2,
        "ecc.aggregate.uncorrected": 3,
        "ecc.aggregate.uncorrected.dram": 3,
        "ecc.aggregate.corrected": 128,
        "ecc.aggregate.corrected.dram": 128,
        "ecc.volatile.corrected": 4,
        "ecc.volatile.corrected.dram": 4,
        "remapped_rows": "0 1 0 0",
        "remap_histogram": "639 1 0 0 0",
    }
    return system([card_a100(0, **counts)])


def row_remap_pending() -> Profile:
    """An A100 that waits for a reset to remap a row."""
    return system([card_a100(0, remapped_rows="0 1 1 0", remap_histogram="639 1 0 0 0")])


def row_remap_failure() -> Profile:
    """An A100 that has no spare rows left: it is to be replaced."""
    return system([card_a100(0, remapped_rows="0 8 0 1", remap_histogram="632 0 0 0 8")])


def old_driver() -> Profile:
    """Driver 470 (CUDA driver API 11.4) with a T4; build it `without=NEWER_SYMBOLS`."""
    return system([card_t4(0, numa_node=None)], driver="470.82.01", nvml="11.470.82.01", cuda_driver=11040)


def init_fails(code: int) -> Profile:
    """nvmlInit returns `code`: 9 driver not loaded, 12 library, 18 mismatch, 4 permission, 15, 17, 999 …"""
    return rtx3090().but({"init": code})


def hanging(function: str, base: Optional[Profile] = None, gpu: Optional[int] = None) -> Profile:
    """`function` never returns, for all GPUs or for one."""
    return (base or rtx3090()).but({f"hang.{function}": "any" if gpu is None else gpu})


def crashing(function: str, base: Optional[Profile] = None, gpu: Optional[int] = None) -> Profile:
    """`function` ends the process with SIGSEGV, for all GPUs or for one."""
    return (base or rtx3090()).but({f"crash.{function}": "any" if gpu is None else gpu})


def busy_gpu() -> Profile:
    """A 3090 whose memory other processes hold, hot and slowed down by the hardware."""
    busy: dict[str, Value] = {
        "memory_used_mib": 23800,
        "compute_processes": "4242:21000 4243:2500",
        "graphics_processes": "1001:120",
        "clocks_event_reasons": "0x68",
        "temperature": 94,
        "pstate": 2,
        "utilisation": "99 71",
        "pcie_gen": 4,
        "power_usage": 349000,
        "clock.graphics": 900,
        "clock.sm": 900,
        "clock.mem": 9501,
        "violation.thermal": 900000,
    }
    return system([card_3090(0, **busy)], process__4242="python3", process__4243="python3", process__1001="Xorg")
