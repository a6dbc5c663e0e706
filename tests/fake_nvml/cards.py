"""What each card answers when it is idle and well. Sizes, identifiers and limits are the published ones; UUIDs and serials are
made up."""

from __future__ import annotations

from fake_build import Value


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


def links(count: int, version: int, speed_mbps: int, **each: Value) -> dict[str, Value]:
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
        **links(18, 6, 26562, remote_type=2, remote_pci_device_id="0x22A310DE"),
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
        **links(12, 4, 25000, remote_type=2, remote_pci_device_id="0x1AF110DE"),
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
        **links(6, 2, 25781, remote_type=0),
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
