"""What a full `nvidia-smi` report says, whichever of its formats it came in, and how a GPU is built from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Callable, Optional

from tfdoctor.probes.nvml import Ecc, Gpu, GpuProcess, MigInstance, PcieLink, RowRemap
from tfdoctor.probes.nvml_child import program_name
from tfdoctor.probes.parse.values import (
    bus_address,
    compute_mode,
    decimal,
    integer,
    mebibytes,
    says_lost,
    value_of,
    yes_no,
)

Look = Callable[[str], Optional[str]]


@dataclass(frozen=True)
class SmiReport:
    """`driver` is the driver version, `cuda` the CUDA driver API version, `model` "wddm", "tcc", "mcdm" or "".

    `smi` is nvidia-smi's own version where the format tells it. `attached`: how many GPUs it says there are.
    `truncated`: the text ends before the report does.
    """

    driver: str
    cuda: str
    model: str
    gpus: tuple[Gpu, ...]
    smi: str = ""
    attached: Optional[int] = None
    truncated: bool = False


# A name per question; each format says where its answer stands. Several places: the first that has one.
REASONS: Mapping[str, str] = {
    "gpu_idle": "idle",
    "applications_clocks_setting": "app-clocks",
    "user_defined_clocks": "app-clocks",
    "sw_power_cap": "sw-power-cap",
    "hw_slowdown": "hw-slowdown",
    "hw_thermal_slowdown": "hw-thermal",
    "hw_power_brake_slowdown": "hw-power-brake",
    "sync_boost": "sync-boost",
    "sw_thermal_slowdown": "sw-thermal",
    "display_clocks_setting": "display",
    "board_limit": "board-limit",
    "reliability": "reliability",
}

FABRIC = {
    "not supported": "not-supported",
    "not started": "not-started",
    "in progress": "in-progress",
    "completed": "completed",
}
VIRTUALIZATION = {
    "none": "none",
    "pass-through": "passthrough",
    "passthrough": "passthrough",
    "vgpu": "vgpu",
    "host vgpu": "host-vgpu",
    "host vsga": "host-vsga",
}


def build_gpu(
    index: int,
    bus: str,
    look: Look,
    reasons: Mapping[str, Optional[str]],
    mig: tuple[MigInstance, ...],
    processes: Optional[tuple[GpuProcess, ...]],
    lost: bool,
) -> Gpu:
    """A GPU from the printed values. `look` gives what stands under one of the names below, None where nothing does."""
    fabric_state = FABRIC.get(value_of(look("fabric.state")).casefold())
    return Gpu(
        index=index,
        name=value_of(look("name")),
        bus=bus_address(look("bus")) or bus_address(bus),
        uuid=value_of(look("uuid")),
        lost=lost or says_lost(look("name")),
        memory_total=mebibytes(look("memory.total")),
        memory_used=mebibytes(look("memory.used")),
        pcie=_pcie(look),
        ecc=_ecc(look),
        rows=_rows(look),
        mig=yes_no(look("mig")),
        mig_instances=mig,
        compute_mode=compute_mode(look("compute_mode")),
        persistence=yes_no(look("persistence")),
        display=yes_no(look("display")),
        throttle=throttle(reasons),
        temperature=integer(look("temperature")),
        temperature_slowdown=integer(look("temperature.slowdown")),
        temperature_max_operating=integer(look("temperature.max_operating")),
        power=decimal(look("power")),
        power_limit=decimal(look("power.limit")),
        power_limit_default=decimal(look("power.limit_default")),
        clock_sm=integer(look("clock.sm")),
        clock_sm_max=integer(look("clock.sm_max")),
        performance_state=integer(look("performance_state")),
        utilization=integer(look("utilization")),
        processes=processes,
        fabric_state=fabric_state,
        fabric_status=_fabric_status(look("fabric.status")) if fabric_state else None,
        virtualization=VIRTUALIZATION.get((look("virtualization") or "").strip().casefold(), ""),
        license=_license(look("license")),
    )


def _pcie(look: Look) -> PcieLink:
    return PcieLink(
        generation=integer(look("pcie.generation")),
        width=integer(look("pcie.width")),
        max_generation=integer(look("pcie.max_generation")),
        max_width=integer(look("pcie.max_width")),
        gpu_max_generation=integer(look("pcie.gpu_max_generation")),
        host_max_generation=integer(look("pcie.host_max_generation")),
    )


def _ecc(look: Look) -> Ecc:
    """Before Ampere the counters are single and double bit; since, corrected and uncorrected of SRAM and DRAM.
    Newest drivers split SRAM's uncorrected ones into parity and SEC-DED."""

    def sram(when: str) -> Optional[int]:
        return total(
            look(f"ecc.{when}.sram_uncorrected"), look(f"ecc.{when}.sram_parity"), look(f"ecc.{when}.sram_secded")
        )

    def corrected(when: str) -> Optional[int]:
        new = total(look(f"ecc.{when}.sram_corrected"), look(f"ecc.{when}.dram_corrected"))
        return new if new is not None else integer(look(f"ecc.{when}.single_bit"))

    def uncorrected(when: str) -> Optional[int]:
        parts = [n for n in (sram(when), integer(look(f"ecc.{when}.dram_uncorrected"))) if n is not None]
        return sum(parts) if parts else integer(look(f"ecc.{when}.double_bit"))

    return Ecc(
        enabled=yes_no(look("ecc.current")),
        pending=yes_no(look("ecc.pending")),
        volatile_corrected=corrected("volatile"),
        volatile_uncorrected=uncorrected("volatile"),
        aggregate_corrected=corrected("aggregate"),
        aggregate_uncorrected=uncorrected("aggregate"),
        sram_aggregate_uncorrected=sram("aggregate"),
    )


def total(*printed: Optional[str]) -> Optional[int]:
    """The sum of the numbers among the values; None when there is none."""
    numbers = [n for n in map(integer, printed) if n is not None]
    return sum(numbers) if numbers else None


def _rows(look: Look) -> RowRemap:
    rows = RowRemap(
        integer(look("rows.corrected")),
        integer(look("rows.uncorrected")),
        yes_no(look("rows.pending")),
        yes_no(look("rows.failed")),
    )
    if rows != RowRemap():
        return rows
    pages = RowRemap(
        integer(look("pages.single_bit")), integer(look("pages.double_bit")), yes_no(look("pages.pending")), pages=True
    )
    return pages if pages != RowRemap(pages=True) else RowRemap()


def throttle(reasons: Mapping[str, Optional[str]]) -> Optional[frozenset[str]]:
    """The active ones among reasons by nvidia-smi's name; None when none of them is told."""
    told = {REASONS.get(name, name): yes_no(printed) for name, printed in reasons.items()}
    if all(active is None for active in told.values()):
        return None
    return frozenset(name for name, active in told.items() if active)


def _fabric_status(printed: Optional[str]) -> Optional[int]:
    """NVML's code: nvidia-smi prints "Success" or an error's text. 999 is NVML's unknown error."""
    text = value_of(printed)
    if not text:
        return None
    number = integer(text)
    return number if number is not None else 0 if text.casefold() == "success" else 999


def _license(printed: Optional[str]) -> str:
    text = value_of(printed).casefold()
    return "licensed" if text.startswith("licensed") else "unlicensed" if text.startswith("unlicensed") else ""


def build_process(
    pid: Optional[str], kind: Optional[str], name: Optional[str], memory: Optional[str]
) -> Optional[GpuProcess]:
    """A process as nvidia-smi lists it; None when there is no process number. Its owner is not told."""
    number = integer(pid)
    if number is None:
        return None
    what = "compute" if "C" in value_of(kind) or not value_of(kind) else "graphics"
    return GpuProcess(number, mebibytes(memory), program_name(value_of(name)), "", what)
