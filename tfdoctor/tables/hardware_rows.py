"""The rows about hardware: GPUs and what they can, their links, the cloud instances that hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from tfdoctor.tables.rows import Grade, Row, Version


@dataclass(frozen=True)
class Gpu(Row):
    """One GPU model.

    Rates are dense (no 2:4 sparsity) in TFLOPS (``int8``: TOPS), tensor rates with FP32 accumulate; memory
    bandwidth and NVLink in GB/s, NVLink as the sum of both directions over all links. None: no such mode, or
    not known. ``host`` is the only machine it comes with ("aarch64"), None where any will do.
    ``performance_grade`` is how far the rates are to be trusted; ``grade`` is about the compute
    capability.
    """

    name: str
    aliases: tuple[str, ...]
    compute_capability: str
    architecture: str
    kind: str
    memory_gb: tuple[float, ...]
    memory_type: Optional[str]
    memory_bandwidth_gbs: Optional[float]
    fp32_tflops: Optional[float]
    tf32_tflops: Optional[float]
    fp16_tflops: Optional[float]
    bf16_tflops: Optional[float]
    fp8_tflops: Optional[float]
    int8_tops: Optional[float]
    nvlink_generation: Optional[int]
    nvlink_gbs: Optional[float]
    pcie_generation: Optional[int]
    pcie_lanes: Optional[int]
    tensor_cores: bool
    host: Optional[str]
    performance_grade: Optional[Grade]
    note: str


@dataclass(frozen=True)
class OtherGpu(Row):
    """GPUs of another vendor on one system: ``pattern`` is a regular expression over the whole name, in lower case.

    ``host`` is the distribution that ``plugin`` is installed with; None where that is a TensorFlow itself.
    """

    vendor: str
    pattern: str
    system: str
    machine: str
    what: str
    plugin: str
    host: Optional[str]


@dataclass(frozen=True)
class ComputeCapability(Row):
    """A compute capability: its architecture, the toolkits and drivers that know it, its number formats.

    ``last_cuda`` and ``last_driver_branch`` are None while it is still supported. ``fp16``/``bf16``/``fp8``:
    "tensor", "full", "slow" or "none". ``driver_grade`` is for ``last_driver_branch`` alone.
    """

    compute_capability: str
    architecture: str
    tegra: bool
    first_cuda: Version
    last_cuda: Optional[Version]
    last_driver_branch: Optional[int]
    driver_grade: Grade
    tensor_core_generation: int
    fp16: str
    bf16: str
    tf32: bool
    fp8: bool
    fp4: bool


@dataclass(frozen=True)
class NvlinkGeneration(Row):
    """An NVLink generation: rate of one link (one direction), links of the full part, sum per GPU (both)."""

    generation: int
    links: int
    gbs_per_link_per_direction: float
    gbs_per_gpu_both_directions: float
    note: str


@dataclass(frozen=True)
class PcieGeneration(Row):
    """A PCI Express generation: GT/s and payload GB/s of one lane in one direction."""

    generation: int
    gt_per_s: float
    gbs_per_lane: float

    def gbs(self, lanes: int) -> float:
        """Payload GB/s of ``lanes`` lanes in one direction."""
        return self.gbs_per_lane * lanes


@dataclass(frozen=True)
class Instance(Row):
    """A cloud instance type (``pattern``: a regular expression over its name) and the GPUs it should show."""

    cloud: str
    name: str
    pattern: str
    gpu: str
    gpu_counts: tuple[int, ...]
    memory_gb: Optional[float]
    link: str
    nvlink_generation: Optional[int]
