"""The rows about TensorFlow: its releases and their faults, its siblings, plug-ins and companions, names of its API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Optional

from tfdoctor.tables.gpu_code import as_pair, as_text, runs_on
from tfdoctor.tables.rows import Range, Row, Version


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
            and as_pair(as_text(code.ptx)) <= as_pair(compute_capability)
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
class ApiName(Row):
    """A name of the Python API that circulates wrongly: whether it exists, what it is, what to use."""

    name: str
    tensorflow: Range
    exists: bool
    what: str
    instead: str


def _highest(versions: Iterable[Optional[str]]) -> Optional[str]:
    return max((version for version in versions if version is not None), key=as_pair, default=None)
