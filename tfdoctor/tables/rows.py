"""The rows of the compatibility tables: each dataclass is the schema of one file in compat/.

Every key of a row must be there and no other may be. ``Version`` and ``Range`` fields are checked when a
table is read: a range is a PEP 440 specifier set ("" means any version). Versions of drivers are kept as
printed ("470.82.01"). Compute capabilities are text ("8.6"), GPU code is "sm_86" or "compute_86". Link rates
are GB/s, memory is GB as the vendor prints it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NewType, Optional

Version = NewType("Version", str)
Range = NewType("Range", str)
Grade = NewType("Grade", str)

#: official: the vendor's own document. measured: read from the artefact itself (wheel, header, library).
#: second-hand: somebody who cites the vendor; never enough for an error by itself.
GRADES = ("official", "measured", "second-hand")


@dataclass(frozen=True)
class Row:
    """What every row says about itself: where it is from, when that was looked at, how far to trust it."""

    source: str
    checked: str
    grade: Grade

    @property
    def solid(self) -> bool:
        """Whether the row may carry an error by itself: not when it is second-hand."""
        return self.grade != "second-hand"


@dataclass(frozen=True)
class Requirement:
    """One requirement of a release on another distribution: PEP 440 range, and a PEP 508 marker or ""."""

    range: Range
    marker: str


@dataclass(frozen=True)
class TfPlatform:
    """The wheels of one release for one operating system and machine.

    ``system`` is linux, windows or macos; ``machine`` x86_64 or aarch64. ``is_cuda`` says whether the wheel
    itself holds GPU code. A stub holds no code; ``forwards_to`` is the distribution it installs instead.
    """

    system: str
    machine: str
    tag: str
    pythons: tuple[str, ...]
    is_cuda: bool
    stub: bool
    forwards_to: Optional[str]


@dataclass(frozen=True)
class GpuCode:
    """Fat binaries of a library that hold the same code: ``count`` of them.

    ``machine_code``: ("sm_60", …). ``ptx`` ("compute_90") with its ``ptx_isa``; None where there is no PTX.
    Those without machine code are not counted: they are input of the device linker, whose output holds it.
    """

    machine_code: tuple[str, ...]
    ptx: Optional[str]
    ptx_isa: Optional[Version]
    count: int


@dataclass(frozen=True)
class TfRelease(Row):
    """One final release of TensorFlow; what is not under ``platforms`` is about the Linux x86_64 wheel.

    ``cuda`` is the toolkit it was built with ("12.5.1"). ``cudnn`` is as exact as is known: the header in the
    wheel (2.16 on), else major.minor of the official table; ``cudnn_from`` says which. ``runpath_dirs``: for
    each library that calls dlopen, the folders below site-packages on its RUNPATH. None: not read (an empty
    tuple: read, and there are none). ``gpu_distribution`` is the distribution with the GPU build.
    ``gpu_code`` is what its libraries hold, counted over all of them; ``compute_capabilities`` is what the build
    says of itself.
    """

    version: Version
    released: str
    gpu_distribution: str
    cuda: Optional[Version]
    cudnn: Optional[Version]
    cudnn_from: Optional[str]
    nccl: Optional[Version]
    nccl_linkage: Optional[str]
    compute_capabilities: tuple[str, ...]
    gpu_code: tuple[GpuCode, ...]
    tensorrt: Optional[bool]
    sonames: Mapping[str, str]
    runpath_dirs: Optional[Mapping[str, tuple[str, ...]]]
    pythons: tuple[str, ...]
    requires_python: Range
    glibc_floor: Version
    platforms: tuple[TfPlatform, ...]
    requires: Mapping[str, tuple[Requirement, ...]]
    and_cuda: Optional[Mapping[str, Range]]
    and_cuda_resolved: Optional[Mapping[str, Version]]
    and_cuda_missing: tuple[str, ...]
    and_cuda_download_mib: Optional[int]
    installed_mib: int
    download_mib: int
    disagreements: tuple[str, ...]

    @property
    def cuda_minor(self) -> Optional[str]:
        """The toolkit as major.minor: "12.5" of "12.5.1"."""
        return None if self.cuda is None else ".".join(self.cuda.split(".")[:2])

    @property
    def has_gpu_build(self) -> bool:
        """Whether this release has a GPU build for Linux x86_64 at all."""
        return self.cuda is not None

    @property
    def machine_code(self) -> tuple[str, ...]:
        """Compute capabilities with machine code: ("6.0", "7.0", …) of the sm_ entries."""
        return tuple(as_text(c) for c in self.compute_capabilities if c.startswith("sm_"))

    @property
    def ptx(self) -> tuple[str, ...]:
        """Compute capabilities with PTX, which newer GPUs compile at first use: ("9.0",)."""
        return tuple(as_text(c) for c in self.compute_capabilities if c.startswith("compute_"))

    @property
    def ptx_isa(self) -> Optional[str]:
        """The highest PTX ISA version in the libraries; None when they were not read or hold none."""
        return _highest(code.ptx_isa for code in self.gpu_code)

    def jit_isa(self, compute_capability: str) -> Optional[str]:
        """The highest PTX ISA that the driver must compile for kernels without machine code for this GPU.

        None: every kernel has machine code that runs on it, or the libraries were not read.
        """
        needed = (
            code.ptx_isa
            for code in self.gpu_code
            if code.ptx is not None
            and not runs_on(compute_capability, code.machine_code)
            and _pair(as_text(code.ptx)) <= _pair(compute_capability)
        )
        return _highest(needed)

    def fat_binaries_without(self, compute_capability: str) -> int:
        """How many fat binaries of the libraries have no machine code that runs on this GPU."""
        return sum(code.count for code in self.gpu_code if not runs_on(compute_capability, code.machine_code))

    def platform(self, system: str, machine: str) -> Optional[TfPlatform]:
        """The wheels for one system (linux, windows, macos) and machine (x86_64, aarch64)."""
        found = (p for p in self.platforms if (p.system, p.machine) == (system, machine))
        return next(found, None)

    def requirement(self, name: str) -> tuple[Requirement, ...]:
        """The ranges for one distribution ("numpy"); empty when the release does not name it."""
        return self.requires.get(name, ())


def as_text(code: str) -> str:
    """ "sm_86" or "compute_86" or "86" as compute capability text: "8.6" ("sm_120" is "12.0")."""
    digits = code.rpartition("_")[2].rstrip("af")
    return f"{digits[:-1]}.{digits[-1]}"


def runs_on(compute_capability: str, machine_code: tuple[str, ...]) -> bool:
    """Whether one of the sm_ codes runs on a GPU: the same major version and a minor that is not higher."""
    major, minor = _pair(compute_capability)
    have = [_pair(as_text(code)) for code in machine_code]
    return any(code[0] == major and code[1] <= minor for code in have)


def _pair(version: str) -> tuple[int, int]:
    major, _, minor = version.partition(".")
    return int(major), int(minor or 0)


def _highest(versions: Iterable[Optional[str]]) -> Optional[str]:
    return max((version for version in versions if version is not None), key=_pair, default=None)


@dataclass(frozen=True)
class TfDefect(Row):
    """A fault of published releases: which, where, what happens and what to install instead.

    ``stops_pip_libraries``: with the NVIDIA libraries from pip no GPU is used (a toolkit on the system is not
    affected). ``pins``: requirements that avoid it. ``pythons``: the wheel tags ("cp311") that it concerns; empty: all.
    """

    id: str
    versions: Range
    systems: tuple[str, ...]
    what: str
    effect: str
    instead: str
    stops_pip_libraries: bool
    pins: tuple[str, ...]
    pythons: tuple[str, ...]


@dataclass(frozen=True)
class SystemSupport(Row):
    """GPU support of the official packages per operating system and machine."""

    system: str
    machine: str
    gpu: str
    tensorflow: Range
    what: str
    instead: str


@dataclass(frozen=True)
class Distribution(Row):
    """A sibling distribution that installs the ``tensorflow`` package, or plugs a device into it."""

    name: str
    kind: str
    first: Version
    last: Version
    systems: tuple[str, ...]
    tensorflow: Range
    provides_tensorflow: bool
    ended: bool
    what: str
    instead: Optional[str]


@dataclass(frozen=True)
class Plugin(Row):
    """One release of a device plug-in and the TensorFlow it goes with, or of a vendor's build and the TensorFlow it is."""

    name: str
    version: Version
    tensorflow: Range
    pythons: tuple[str, ...]
    systems: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class Companion(Row):
    """One release of a package that must match TensorFlow, and the TensorFlow it goes with.

    ``how`` the range is known: "requires" (pip holds to it), "extra" (only an extra of the package names it:
    pip does not notice a mismatch) or "import check" (the package refuses others when it is imported).
    ``also_needs``: other TensorFlow packages it requires ("tf-keras").
    """

    name: str
    version: Version
    tensorflow: Range
    pythons: tuple[str, ...]
    how: str
    also_needs: tuple[str, ...]


@dataclass(frozen=True)
class Toolkit(Row):
    """One CUDA toolkit release and the driver it came with.

    None where none came with it: on Windows from 13.1 on, on Linux from 13.4 on.
    """

    cuda: Version
    update: int
    label: str
    linux: Optional[Version]
    windows: Optional[Version]


@dataclass(frozen=True)
class CudaLibraries(Row):
    """The library names of a range of CUDA toolkits on Linux, by component."""

    cuda: Range
    sonames: Mapping[str, str]


@dataclass(frozen=True)
class DriverFamily(Row):
    """The lowest driver for a CUDA family ("12": minor-version compatibility; "10.1": that release alone)."""

    family: str
    linux: Version
    windows: Optional[Version]
    minor_version_compatibility: bool
    note: str


@dataclass(frozen=True)
class DriverBranch(Row):
    """A driver branch and the CUDA driver API version it implements."""

    branch: int
    cuda: Version
    kind: Optional[str]
    end_of_life: Optional[str]


@dataclass(frozen=True)
class ForwardCompat(Row):
    """A cuda-compat package: the driver branches it can sit on and the kinds of GPU it works on."""

    package: str
    cuda: Version
    on_branches: tuple[int, ...]
    gpus: str


@dataclass(frozen=True)
class PtxIsa(Row):
    """A PTX ISA version, the CUDA release that brought it and the driver branch that compiles it."""

    ptx_isa: Version
    cuda: Version
    driver_branch: Optional[int]


@dataclass(frozen=True)
class CudnnSupport(Row):
    """What a range of cuDNN versions supports in its build for one CUDA major version."""

    versions: Range
    cuda_major: str
    cuda: Range
    min_compute_capability: Optional[str]
    machine_code: tuple[str, ...]
    linux_driver: Optional[Version]
    windows_driver: Optional[Version]
    note: str

    def has_code_for(self, compute_capability: str) -> Optional[bool]:
        """Whether its code runs on a GPU; None where neither its code nor its lowest compute capability is known."""
        if self.machine_code:
            ptx = (code for code in self.machine_code if code.startswith("compute_"))
            compiled = any(_pair(as_text(code)) <= _pair(compute_capability) for code in ptx)
            return compiled or runs_on(compute_capability, self.machine_code)
        if self.min_compute_capability is None:
            return None
        return _pair(self.min_compute_capability) <= _pair(compute_capability)


@dataclass(frozen=True)
class NcclSupport(Row):
    """An NCCL build for one CUDA major version and the GPU code in it."""

    version: Version
    cuda_major: str
    machine_code: tuple[str, ...]
    ptx: tuple[str, ...]
    ptx_isa: Optional[Version]


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


@dataclass(frozen=True)
class ErrorCode(Row):
    """An error code: ``api`` is cuda-driver, cuda-runtime, cudnn, cublas, nccl or nvml."""

    api: str
    name: str
    value: int
    meaning: str
    advice: str


@dataclass(frozen=True)
class Xid(Row):
    """A kernel-log Xid.

    ``severity``: fatal (the GPU is unusable until reset, or hardware has failed), error (the job was lost),
    warning (look at it), info. ``blame``: application, driver, hardware, link or unknown. ``action`` is what
    to do first and ``then`` what to do if it comes back, both in plain words.
    """

    xid: int
    name: str
    what: str
    severity: str
    blame: str
    action: str
    then: str


@dataclass(frozen=True)
class NodeBaseline(Row):
    """What an operator expects of a healthy node of one type; below it the node is taken out of service."""

    node: str
    gpus: int
    host_device_gbs: Optional[float]
    peer_gbs: Optional[float]
    allreduce_busbw_gbs: Optional[float]
    allreduce_message: Optional[str]


@dataclass(frozen=True)
class DeviceBaseline(Row):
    """What an operator's diagnostic expects of a GPU with one PCI device id (hexadecimal, as in lspci)."""

    pci_device_id: str
    gpu: str
    min_pcie_width: Optional[int]
    min_pcie_generation: Optional[int]
    min_memory_bandwidth_gbs: Optional[float]


@dataclass(frozen=True)
class Threshold(Row):
    """A limit used by a rule: its value, unit and why."""

    name: str
    value: float
    unit: str
    why: str

    @property
    def said(self) -> str:
        """The limit with its unit: "65 °C"."""
        return f"{self.value:g} {self.unit}"


@dataclass(frozen=True)
class ApiName(Row):
    """A name of the Python API that circulates wrongly: whether it exists, what it is, what to use."""

    name: str
    tensorflow: Range
    exists: bool
    what: str
    instead: str
