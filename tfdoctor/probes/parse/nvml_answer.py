"""What nvml_child.py printed (or a recording kept of it) into facts: NVML's numbers get their names and units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Optional

from tfdoctor.i18n import _
from tfdoctor.probes.nvml import Driver, Ecc, Gpu, GpuProcess, MigInstance, NvLink, Nvml, PcieLink, RowRemap, Topology
from tfdoctor.probes.parse.values import NVLINK_GENERATIONS, P2P, REASON_BITS, bus_address, mig_profile

SOURCE = "NVML"
MOST_GPUS = 64  # NVIDIA machines of today have at most 16
STATES = frozenset(
    {
        "ok", "library-missing", "driver-not-loaded", "version-mismatch", "no-permission", "gpu-lost", "blocked-by-os",
        "reset-required", "timed-out", "crashed", "unknown",
    }
)  # fmt: skip
COMPUTE_MODES = {0: "default", 1: "exclusive-thread", 2: "prohibited", 3: "exclusive-process"}
FABRIC_STATES = {0: "not-supported", 1: "not-started", 2: "in-progress", 3: "completed"}
VIRTUALIZATION = {0: "none", 1: "passthrough", 2: "vgpu", 3: "host-vgpu", 4: "host-vsga"}
DRIVER_MODELS = {0: "wddm", 1: "tcc", 2: "mcdm"}
REMOTE_TYPES = {0: "gpu", 1: "cpu", 2: "switch"}
# NVML_TOPOLOGY_…; INTERNAL is two GPUs on one board, which nvidia-smi prints as PIX
LEVELS = {0: "PIX", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}


def nvml_of(answer: Mapping[str, Any]) -> Nvml:
    """Whether NVML came up."""
    state = answer.get("state")
    return Nvml(
        state=state if isinstance(state, str) and state in STATES else "unknown",
        code=_int(answer.get("code")),
        error=_text(answer.get("error")) + _silent(answer),
        library_version=library_version(_text(answer.get("library_version"))),
        source=SOURCE,
    )


def _silent(answer: Mapping[str, Any]) -> str:
    """Which GPUs had not answered when NVML's process was killed or died; "" where that is not known or not the case."""
    count = _int(answer.get("count"))
    heard = {gpu.index for gpu in gpus_of(answer)}
    if answer.get("state") not in ("timed-out", "crashed") or not count or not 0 < len(heard) < count <= MOST_GPUS:
        return ""
    silent = ", ".join(str(index) for index in range(count) if index not in heard)
    return _(" (no answer for GPU {indices}, of {count} GPUs)").format(indices=silent, count=count)


def library_version(printed: str) -> str:
    """NVML puts the major number of its CUDA in front of the version: "12.535.54.03" -> "535.54.03"."""
    return re.sub(r"^\d{1,2}\.(?=\d{3}\.)", "", printed)


def driver_of(answer: Mapping[str, Any]) -> Optional[Driver]:
    """The driver, or None when NVML did not tell its version."""
    version = _text(answer.get("driver_version"))
    if not version:
        return None
    models = [model for gpu in _gpus(answer) if (model := DRIVER_MODELS.get(_code(gpu.get("driver_model")), ""))]
    return Driver(version, cuda_version(_int(answer.get("cuda_driver_version"))), (models or [""])[0], SOURCE)


def cuda_version(number: Optional[int]) -> str:
    """12040 -> "12.4"."""
    return f"{number // 1000}.{number % 1000 // 10}" if number and number > 0 else ""


def gpus_of(answer: Mapping[str, Any]) -> tuple[Gpu, ...]:
    """Every GPU that NVML was asked about, by index."""
    return tuple(sorted((_gpu(i, raw) for i, raw in enumerate(_gpus(answer))), key=lambda gpu: gpu.index))


def says_none(answer: Mapping[str, Any]) -> bool:
    """Did NVML count its GPUs and find none? (No list alone may also mean that it could not count.)"""
    return _int(answer.get("count")) == 0


def _gpus(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [gpu for gpu in _list(answer.get("gpus")) if isinstance(gpu, dict)]


def _gpu(position: int, raw: Mapping[str, Any]) -> Gpu:
    index = _int(raw.get("index"))
    memory = _ints(raw.get("memory"), 2)
    capability = _ints(raw.get("compute_capability"), 2)
    mig = _ints(raw.get("mig"), 2)[0]
    fabric = _ints(raw.get("fabric"), 2)
    return Gpu(
        index=position if index is None else index,
        name=_text(raw.get("name")),
        bus=bus_address(_text(raw.get("bus"))),
        uuid=_text(raw.get("uuid")),
        lost=raw.get("lost") is True,
        compute_capability=None if None in capability else f"{capability[0]}.{capability[1]}",
        memory_total=memory[0],
        memory_used=memory[1],
        pcie=_pcie(_map(raw.get("pcie"))),
        ecc=_ecc(_map(raw.get("ecc"))),
        rows=_rows(raw),
        mig=_bool(mig),
        mig_instances=_mig_instances(raw),
        compute_mode=COMPUTE_MODES.get(_code(raw.get("compute_mode"))),
        persistence=_bool(_int(raw.get("persistence"))),
        display=_bool(_int(raw.get("display"))),
        throttle=_throttle(_int(raw.get("throttle"))),
        temperature=_int(raw.get("temperature")),
        temperature_slowdown=_int(raw.get("temperature_slowdown")),
        temperature_max_operating=_int(raw.get("temperature_max_operating")),
        power=_watts(raw.get("power")),
        power_limit=_watts(raw.get("power_limit")),
        power_limit_default=_watts(raw.get("power_limit_default")),
        clock_sm=_int(raw.get("clock_sm")),
        clock_sm_max=_int(raw.get("clock_sm_max")),
        performance_state=_performance_state(_int(raw.get("performance_state"))),
        utilization=_int(raw.get("utilization")),
        processes=_processes(raw.get("processes")),
        nvlinks=_nvlinks(raw.get("nvlinks"), in_mig_mode=bool(mig)),
        numa_node=_numa_node(raw.get("memory_affinity")),
        cpu_affinity=_text(raw.get("cpu_affinity")),
        fabric_state=FABRIC_STATES.get(_code(fabric[0])),
        fabric_status=fabric[1],
        virtualization=VIRTUALIZATION.get(_code(raw.get("virtualization")), ""),
        license=_license(raw.get("licensed")),
        errors=tuple(f"{call}: {error}" for call, error in sorted(_map(raw.get("errors")).items())),
    )


def _pcie(raw: Mapping[str, Any]) -> PcieLink:
    """NVML's maximum generation is that of GPU and host together: where it is below the GPU's, it is the host's."""
    both, gpu = _int(raw.get("max_generation")), _int(raw.get("gpu_max_generation"))
    return PcieLink(
        generation=_int(raw.get("generation")),
        width=_int(raw.get("width")),
        max_generation=both,
        max_width=_int(raw.get("max_width")),
        gpu_max_generation=gpu,
        host_max_generation=both if both is not None and gpu is not None and both < gpu else None,
    )


def _ecc(raw: Mapping[str, Any]) -> Ecc:
    current, pending = _ints(raw.get("mode"), 2)
    return Ecc(
        enabled=_bool(current),
        pending=_bool(pending),
        volatile_corrected=_int(raw.get("volatile_corrected")),
        volatile_uncorrected=_int(raw.get("volatile_uncorrected")),
        aggregate_corrected=_int(raw.get("aggregate_corrected")),
        aggregate_uncorrected=_int(raw.get("aggregate_uncorrected")),
        sram_aggregate_uncorrected=_int(raw.get("sram_aggregate_uncorrected")),
    )


def _rows(raw: Mapping[str, Any]) -> RowRemap:
    if "pages" in raw:
        single, double, pending = _ints(raw.get("pages"), 3)
        return RowRemap(single, double, _bool(pending), None, pages=True)
    corrected, uncorrected, pending, failed = _ints(raw.get("rows"), 4)
    return RowRemap(corrected, uncorrected, _bool(pending), _bool(failed))


def _mig_instances(raw: Mapping[str, Any]) -> tuple[MigInstance, ...]:
    devices = [d for d in _list(raw.get("mig_devices")) if isinstance(d, dict)]
    return tuple(
        MigInstance(mig_profile(_text(d.get("name"))), _int(d.get("memory")), _text(d.get("uuid"))) for d in devices
    )


def _throttle(bits: Optional[int]) -> Optional[frozenset[str]]:
    if bits is None or bits < 0:
        return None
    known = {name for bit, name in REASON_BITS.items() if bits & bit}
    rest = bits & ~sum(REASON_BITS)
    return frozenset(known | ({f"0x{rest:x}"} if rest else set()))


def _performance_state(state: Optional[int]) -> Optional[int]:
    return state if state is not None and 0 <= state <= 15 else None  # 32 is "unknown"


def _processes(raw: Any) -> Optional[tuple[GpuProcess, ...]]:
    if not isinstance(raw, list):
        return None
    return tuple(
        GpuProcess(
            pid=pid,
            memory=_int(entry.get("memory")),
            name=_text(entry.get("name")),
            user=_one_of(entry.get("user"), ("this user", "another user")),
            kind=_one_of(entry.get("kind"), ("compute", "graphics")) or "compute",
        )
        for entry in raw
        if isinstance(entry, dict) and (pid := _int(entry.get("pid"))) is not None
    )


def _nvlinks(raw: Any, in_mig_mode: bool) -> Optional[tuple[NvLink, ...]]:
    """In MIG mode the driver does not tell of links, so none told is not none there."""
    if not isinstance(raw, list) or (in_mig_mode and not raw):
        return None
    return tuple(_nvlink(i, link) for i, link in enumerate(raw) if isinstance(link, dict))


def _nvlink(position: int, raw: Mapping[str, Any]) -> NvLink:
    index, speed = _int(raw.get("index")), _int(raw.get("speed"))
    return NvLink(
        index=position if index is None else index,
        active=_bool(_int(raw.get("active"))),
        version=NVLINK_GENERATIONS.get(_code(raw.get("version"))),
        remote=bus_address(_text(raw.get("remote"))),
        remote_type=REMOTE_TYPES.get(_code(raw.get("remote_type")), ""),
        speed=None if not speed else speed / 1000,
        errors=_int(raw.get("errors")),
    )


def _numa_node(raw: Any) -> Optional[int]:
    """Memory near more than one node is memory near none in particular."""
    nodes = [n for n in _list(raw) if _int(n) is not None]
    return nodes[0] if len(nodes) == 1 else None


def _license(raw: Any) -> str:
    return ("licensed" if raw else "unlicensed") if isinstance(raw, bool) else ""


def topology_of(answer: Mapping[str, Any], gpus: tuple[Gpu, ...]) -> Topology:
    """Level and peer-to-peer status of every pair."""
    by_index = {gpu.index: gpu for gpu in gpus}
    levels, p2p = {}, {}
    for raw in _list(answer.get("pairs")):
        i, j, level, read, _nvlink_status = _ints(raw, 5)
        if i is None or j is None or i >= j or i not in by_index or j not in by_index:
            continue
        bonded = bonded_links(by_index[i], by_index[j])
        levels[i, j] = f"NV{bonded}" if bonded else LEVELS.get(_code(level), "")
        if read is not None:
            p2p[i, j] = P2P.get(read, "U")
    return Topology(levels, p2p, SOURCE)


def bonded_links(one: Gpu, other: Gpu) -> int:
    """How many NVLinks join two GPUs: those that end at the other, or all that end at switches."""
    direct = [link for link in one.nvlinks or () if link.active and link.remote and link.remote == other.bus]
    if direct:
        return len(direct)
    return min(
        sum(1 for link in gpu.nvlinks or () if link.active and link.remote_type == "switch") for gpu in (one, other)
    )


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _int(value: Any) -> Optional[int]:
    fits = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**64
    return value if fits else None


def _code(value: Any) -> int:
    """The number, or -1, which NVML gives to nothing."""
    number = _int(value)
    return -1 if number is None else number


def _ints(value: Any, count: int) -> list[Optional[int]]:
    """`count` numbers; None for each that is not there or not a number."""
    numbers = [_int(v) for v in _list(value)[:count]]
    return numbers + [None] * (count - len(numbers))


def _bool(value: Optional[int]) -> Optional[bool]:
    return None if value is None else bool(value)


def _watts(value: Any) -> Optional[float]:
    milliwatts = _int(value)
    return None if milliwatts is None else milliwatts / 1000


def _one_of(value: Any, words: tuple[str, ...]) -> str:
    return value if isinstance(value, str) and value in words else ""
