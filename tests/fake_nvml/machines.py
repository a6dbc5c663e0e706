"""Whole machines, healthy and sick, as profiles of the stand-in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

import fake_build
from fake_build import Profile, Value

from .cards import card_1080, card_3090, card_a100, card_h100, card_t4, card_v100, links


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


def rtx3090() -> Profile:
    """One consumer GPU, idle: the PCIe link has stepped down to generation 1, which is harmless."""
    return system([card_3090(0)])


def _bridged(index: int) -> dict[str, Value]:
    other = card_3090(1 - index)["pci"]
    return card_3090(index, **links(4, 5, 14062, remote_type=0, remote_pci_device_id="0x220410DE", remote_pci=other))


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
