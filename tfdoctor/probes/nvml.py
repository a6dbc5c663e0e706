"""The facts that NVML or nvidia-smi tells: whether NVML came up, the driver, every GPU, how they are joined. gpus.py looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Optional


@dataclass(frozen=True)
class Nvml:
    """Did NVML come up? `state` is "ok", or why not: "library-missing", "driver-not-loaded", "version-mismatch",
    "no-permission", "gpu-lost", "blocked-by-os", "reset-required", "timed-out", "crashed", "unknown".

    `code` is NVML's return code (999 unknown), None without one. `library_version`: of libnvidia-ml.so.1 ("535.54", "" not told)."""

    state: str
    code: Optional[int]
    error: str
    library_version: str
    source: str


@dataclass(frozen=True)
class Driver:
    """The NVIDIA driver, as user space sees it. `version` is the driver version ("535.183.01"), `cuda` the CUDA driver
    API version ("12.2", "" not told): the newest CUDA that this driver knows, not an installed toolkit.

    On WSL2 `version` is the Windows driver's. `model` is "wddm", "tcc", "mcdm" on Windows, else ""."""

    version: str
    cuda: str
    model: str
    source: str


@dataclass(frozen=True)
class PcieLink:
    """PCIe of one GPU as the driver tells it: current and maximum of the link, and the GPU's own and the host's
    maximum generation where it tells them. None: not told. Links downshift when idle: current speed means nothing then."""

    generation: Optional[int] = None
    width: Optional[int] = None
    max_generation: Optional[int] = None
    max_width: Optional[int] = None
    gpu_max_generation: Optional[int] = None
    host_max_generation: Optional[int] = None


@dataclass(frozen=True)
class NvLink:
    """One NVLink of one GPU. `active` None: not told. `version` is the NVLink generation, `remote` the PCI address of the
    other end ("" not told), `remote_type` "gpu", "switch", "cpu" or "". `speed` GB/s of raw signalling, one direction.
    `errors` is the sum of its error counters (replay, recovery, CRC)."""

    index: int
    active: Optional[bool]
    version: Optional[int] = None
    remote: str = ""
    remote_type: str = ""
    speed: Optional[float] = None
    errors: Optional[int] = None


@dataclass(frozen=True)
class GpuProcess:
    """A process on a GPU. `memory` in bytes (None: not told), `user` its owner as "this user", "another user" or ""
    (names never leave the machine), `name` the program without its path, `kind` "compute" or "graphics"."""

    pid: int
    memory: Optional[int]
    name: str
    user: str
    kind: str


@dataclass(frozen=True)
class Ecc:
    """ECC mode and counters; None: not told or not supported."""

    enabled: Optional[bool] = None
    pending: Optional[bool] = None
    volatile_corrected: Optional[int] = None
    volatile_uncorrected: Optional[int] = None
    aggregate_corrected: Optional[int] = None
    aggregate_uncorrected: Optional[int] = None
    sram_aggregate_uncorrected: Optional[int] = None


@dataclass(frozen=True)
class RowRemap:
    """Remapped rows (Ampere and newer) or, with `pages`, retired pages (before Ampere; `corrected` counts those retired
    after single-bit errors, `uncorrected` after double-bit ones). None where not supported."""

    corrected: Optional[int] = None
    uncorrected: Optional[int] = None
    pending: Optional[bool] = None
    failed: Optional[bool] = None
    pages: bool = False


@dataclass(frozen=True)
class MigInstance:
    """One MIG device: profile ("3g.71gb"), memory in bytes, UUID ("" not told; kept out of every output)."""

    profile: str
    memory: Optional[int]
    uuid: str = field(default="", repr=False)


@dataclass(frozen=True)
class Gpu:
    """One GPU. `index` is NVML's (PCI order). `bus` is "0000:3b:00.0" lower case. Memory in bytes, temperatures in °C,
    power in watts, clocks in MHz. None: not told or not supported by this GPU or driver.

    `lost`: the driver says that this GPU is lost; then most else is None. `throttle` are the active reasons by name:
    "idle", "app-clocks", "sw-power-cap", "hw-slowdown", "sync-boost", "sw-thermal", "hw-thermal", "hw-power-brake", "display".
    `compute_mode`: "default", "exclusive-process", "prohibited", "exclusive-thread". `mig`: mode on?
    `fabric_state`: "not-supported", "not-started", "in-progress", "completed", None; `fabric_status` NVML's code, 0 fine.
    `virtualization` is "none", "passthrough", "vgpu", "host-vgpu", "host-vsga" or "" (not told); `license`, in a vGPU guest,
    "licensed", "unlicensed" or "" (not told). `errors` are NVML calls that failed for another reason than not being
    supported. `nvlinks` is empty for a GPU without NVLink, None when not told (always so in MIG mode).
    `uuid` is kept out of every output."""

    index: int
    name: str
    bus: str
    uuid: str = field(default="", repr=False)
    lost: bool = False
    compute_capability: Optional[str] = None
    memory_total: Optional[int] = None
    memory_used: Optional[int] = None
    pcie: PcieLink = PcieLink()
    ecc: Ecc = Ecc()
    rows: RowRemap = RowRemap()
    mig: Optional[bool] = None
    mig_instances: tuple[MigInstance, ...] = ()
    compute_mode: Optional[str] = None
    persistence: Optional[bool] = None
    display: Optional[bool] = None
    throttle: Optional[frozenset[str]] = None
    temperature: Optional[int] = None
    temperature_slowdown: Optional[int] = None
    temperature_max_operating: Optional[int] = None
    power: Optional[float] = None
    power_limit: Optional[float] = None
    power_limit_default: Optional[float] = None
    clock_sm: Optional[int] = None
    clock_sm_max: Optional[int] = None
    performance_state: Optional[int] = None
    utilization: Optional[int] = None
    processes: Optional[tuple[GpuProcess, ...]] = None
    nvlinks: Optional[tuple[NvLink, ...]] = None
    numa_node: Optional[int] = None
    cpu_affinity: str = ""
    fabric_state: Optional[str] = None
    fabric_status: Optional[int] = None
    virtualization: str = ""
    license: str = ""
    errors: tuple[str, ...] = ()

    @property
    def active_nvlinks(self) -> int:
        """How many NVLinks are up."""
        return sum(1 for link in self.nvlinks or () if link.active)

    @property
    def label(self) -> str:
        """`GPU 0 (NVIDIA A100-SXM4-80GB)`, for messages."""
        return f"GPU {self.index} ({self.name})" if self.name else f"GPU {self.index}"


@dataclass(frozen=True)
class Gpus:
    """The GPUs that the driver lists, by index. Empty: the driver works and lists none. `disagreements`: what a second source
    says differently, one sentence each. `selected`: they were counted by CUDA, so CUDA_VISIBLE_DEVICES has chosen them and
    given them their numbers."""

    gpus: tuple[Gpu, ...]
    source: str
    disagreements: tuple[str, ...] = ()
    selected: bool = False

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self.gpus)

    def __len__(self) -> int:
        return len(self.gpus)


@dataclass(frozen=True)
class Topology:
    """How pairs of GPUs are joined: (i, j) with i < j -> "NV4" (bonded NVLinks), "PIX", "PXB", "PHB", "NODE", "SYS", "" unknown.
    `p2p` gives each pair's peer-to-peer status: "OK", "CNS" (chipset), "GNS" (GPU), "TNS" (topology), "DR" (registry), "NS", "U".
    Fewer than two GPUs: both empty."""

    levels: Mapping[tuple[int, int], str]
    p2p: Mapping[tuple[int, int], str]
    source: str
