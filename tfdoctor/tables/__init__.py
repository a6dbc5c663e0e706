"""The compatibility tables: ``Tables()`` reads a table of compat/ when it is first asked for, and no other.

Folder: TFDOCTOR_COMPAT_DIR, else inside the package, else beside it. A user's own rows: files of the same
names in the folder that TFDOCTOR_COMPAT_EXTRA names; a row with the same key replaces ours. Every lookup
returns a frozen row, or None where the tables do not know; a table that is broken raises TableError.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, TypeVar

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion
from packaging.version import Version as Parsed

from tfdoctor.tables.cuda_rows import (
    CudaLibraries,
    CudnnSupport,
    DriverBranch,
    DriverFamily,
    ForwardCompat,
    NcclSupport,
    PtxIsa,
    Toolkit,
)
from tfdoctor.tables.gpu_code import as_text, runs_on
from tfdoctor.tables.hardware_rows import ComputeCapability, Gpu, Instance, NvlinkGeneration, OtherGpu, PcieGeneration
from tfdoctor.tables.limit_rows import DeviceBaseline, NodeBaseline, Threshold
from tfdoctor.tables.loader import TableError, compat_folder, read_rows
from tfdoctor.tables.log_rows import ErrorCode, KnownCause, KnownError, Xid
from tfdoctor.tables.names import find_gpu, near
from tfdoctor.tables.rows import GRADES, Row
from tfdoctor.tables.tf_rows import ApiName, Companion, Distribution, Plugin, SystemSupport, TfDefect, TfRelease

R = TypeVar("R", bound=Row)

__all__ = ["FILES", "GRADES", "DriverFloor", "TableError", "Tables", "driver_branch_of", "fits", "has_wheel"]

#: file name without .json -> (row dataclass, the fields that together name a row)
FILES: Mapping[str, tuple[type[Row], tuple[str, ...]]] = {
    "api_names": (ApiName, ("name",)),
    "cloud_instances": (Instance, ("cloud", "name")),
    "companions": (Companion, ("name", "version")),
    "compute_capabilities": (ComputeCapability, ("compute_capability",)),
    "cuda_libraries": (CudaLibraries, ("cuda",)),
    "cuda_toolkits": (Toolkit, ("cuda", "update")),
    "cudnn": (CudnnSupport, ("versions", "cuda_major")),
    "device_baselines": (DeviceBaseline, ("pci_device_id",)),
    "distributions": (Distribution, ("name",)),
    "driver_branches": (DriverBranch, ("branch",)),
    "driver_floors": (DriverFamily, ("family",)),
    "error_codes": (ErrorCode, ("api", "name")),
    "forward_compat": (ForwardCompat, ("package",)),
    "gpus": (Gpu, ("name",)),
    "known_causes": (KnownCause, ("name",)),
    "known_errors": (KnownError, ("id",)),
    "nccl": (NcclSupport, ("version", "cuda_major")),
    "node_baselines": (NodeBaseline, ("node",)),
    "nvlink": (NvlinkGeneration, ("generation",)),
    "other_gpus": (OtherGpu, ("vendor", "system")),
    "pcie": (PcieGeneration, ("generation",)),
    "plugins": (Plugin, ("name", "version")),
    "ptx_isa": (PtxIsa, ("ptx_isa",)),
    "system_support": (SystemSupport, ("system", "machine", "tensorflow")),
    "tensorflow": (TfRelease, ("version",)),
    "tf_defects": (TfDefect, ("id",)),
    "thresholds": (Threshold, ("name",)),
    "xids": (Xid, ("xid",)),
}


@dataclass(frozen=True)
class DriverFloor:
    """The drivers that a CUDA toolkit release needs on one system.

    ``minimum``: the lowest driver that runs it (CUDA 11 on: minor-version compatibility, for the whole major
    family; before: the release's own). ``own``: the driver that came with the toolkit, from which everything
    works including PTX compilation; None where the table has no driver for it.
    """

    cuda: str
    system: str
    minimum: str
    own: Optional[str]
    minor_version_compatibility: bool
    note: str
    source: str
    solid: bool


def fits(version: str, version_range: str) -> bool:
    """Whether a version is in a PEP 440 range; False for what is not a version. "" holds everything.

    Pre-releases count, and a local part ("+nv24.1") is left out of the comparison.
    """
    try:
        parsed = Parsed(version)
    except InvalidVersion:
        return False
    return SpecifierSet(version_range).contains(Parsed(parsed.public), prereleases=True)


def has_wheel(tags: Iterable[str], python: str) -> bool:
    """Whether wheels with these Python tags ("cp311", "py3", …) can be installed on a Python ("3.11", "3.11.4")."""
    major, minor = [*python.split("."), ""][:2]
    return bool({f"cp{major}{minor}", f"py{major}"} & set(tags))


def driver_branch_of(driver: str) -> Optional[int]:
    """The branch number of a Linux driver version: 535 of "535.183.01"; None when it is not one."""
    found = re.match(r"[rR]?([0-9]{3})(?:\.|$)", driver.strip())
    return int(found.group(1)) if found else None


def _parsed(version: str) -> Optional[Parsed]:
    try:
        return Parsed(version)
    except InvalidVersion:
        return None


class Tables:
    """Lookups over the tables of one folder. Reads lazily, keeps what it has read, changes nothing."""

    def __init__(
        self,
        folder: Optional[Path] = None,
        extra: Optional[Path] = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """``folder`` and ``extra`` (a user's own rows) default to what the environment says."""
        self.folder = compat_folder(environ) if folder is None else folder
        own = environ.get("TFDOCTOR_COMPAT_EXTRA")
        self.extra = Path(own) if extra is None and own else extra
        if self.extra is not None and not self.extra.is_dir():
            raise TableError(f"TFDOCTOR_COMPAT_EXTRA names {self.extra}, which is not a folder.")
        self._read: dict[type[Row], tuple[Row, ...]] = {}
        self._releases: Optional[tuple[TfRelease, ...]] = None

    def rows(self, row_type: type[R]) -> tuple[R, ...]:
        """All rows of one type, in the table's order. Raises TableError."""
        if row_type not in self._read:
            name, key = next((n, k) for n, (kind, k) in FILES.items() if kind is row_type)
            extra = None if self.extra is None else self.extra / f"{name}.json"
            self._read[row_type] = read_rows(self.folder / f"{name}.json", row_type, key, extra)
        return self._read[row_type]  # type: ignore[return-value]

    # TensorFlow ---------------------------------------------------------------------------------------------

    def releases(self) -> tuple[TfRelease, ...]:
        """Every final release, newest first."""
        if self._releases is None:
            newest_first = sorted(self.rows(TfRelease), key=lambda row: Parsed(row.version), reverse=True)
            self._releases = tuple(newest_first)
        return self._releases

    def release(self, version: str) -> Optional[TfRelease]:
        """The row for a release ("2.16.1"), or the newest patch of its minor ("2.16", "2.16.9", "2.16.0rc1").

        None when the table has no release of that minor: ask ``newer_than_table``.
        """
        parsed = _parsed(version)
        if parsed is None:
            return None
        same_minor = [row for row in self.releases() if Parsed(row.version).release[:2] == parsed.release[:2]]
        exact = [row for row in same_minor if Parsed(row.version) == Parsed(parsed.public)]
        return next(iter(exact or same_minor), None) if len(parsed.release) > 1 else None

    def newer_than_table(self, version: str) -> bool:
        """Whether a TensorFlow version is newer than every release in the table."""
        parsed = _parsed(version)
        return parsed is not None and parsed > Parsed(self.releases()[0].version)

    def extra_installs(self, release: TfRelease, python: str) -> bool:
        """Whether the release has an extra and-cuda that pip can install on this Python ("3.11"; "": not known)."""
        tag = "cp" + "".join(python.split(".")[:2])
        stops = (row for row in self.defects(release.version) if row.stops_pip_libraries)
        return release.and_cuda is not None and not any(tag in row.pythons for row in stops)

    def defects(self, version: str) -> tuple[TfDefect, ...]:
        """The known faults of one release."""
        return tuple(row for row in self.rows(TfDefect) if fits(version, row.versions))

    def system_support(self, system: str, machine: str, version: str) -> Optional[SystemSupport]:
        """GPU support of the official packages on a system (linux, windows, macos, wsl2) and machine."""
        return next(
            (
                row
                for row in self.rows(SystemSupport)
                if (row.system, row.machine) == (system, machine) and fits(version, row.tensorflow)
            ),
            None,
        )

    def distribution(self, name: str) -> Optional[Distribution]:
        """A sibling distribution by its name ("tensorflow-cpu"; "_" and case do not matter)."""
        wanted = _canonical(name)
        return next((row for row in self.rows(Distribution) if row.name == wanted), None)

    def plugins(self, name: str) -> tuple[Plugin, ...]:
        """The releases of a plug-in or vendor build (tensorflow-metal, tensorflow-rocm, …), newest first."""
        wanted = _canonical(name)
        found = (row for row in self.rows(Plugin) if row.name == wanted)
        return tuple(sorted(found, key=lambda row: Parsed(row.version), reverse=True))

    def companions(self, name: str) -> tuple[Companion, ...]:
        """All releases of a companion ("tensorflow-text", "tf_keras"), newest first; empty when it is none."""
        wanted = _canonical(name)
        found = (row for row in self.rows(Companion) if row.name == wanted)
        return tuple(sorted(found, key=lambda row: Parsed(row.version), reverse=True))

    def companion(self, name: str, version: str) -> Optional[Companion]:
        """The row for an installed companion, or the newest patch of its minor: which TensorFlow it needs."""
        parsed = _parsed(version)
        rows = self.companions(name)
        exact = [row for row in rows if Parsed(row.version) == parsed]
        same = [row for row in rows if parsed and Parsed(row.version).release[:2] == parsed.release[:2]]
        return next(iter(exact or same), None)

    def companion_for(self, name: str, tensorflow: str, python: Optional[str] = None) -> Optional[Companion]:
        """The newest release of a companion that goes with a TensorFlow, and that a Python can install where it is known."""
        fitting = (row for row in self.companions(name) if fits(tensorflow, row.tensorflow))
        return next((row for row in fitting if python is None or has_wheel(row.pythons, python)), None)

    def api_name(self, name: str) -> Optional[ApiName]:
        """A wrongly circulating API name; also found without the leading "tf."."""
        return next((row for row in self.rows(ApiName) if name in (row.name, row.name[3:])), None)

    # Drivers and CUDA ---------------------------------------------------------------------------------------

    def toolkits(self, cuda: str) -> tuple[Toolkit, ...]:
        """The releases of one toolkit minor ("12.2"), GA first."""
        minor = ".".join(cuda.split(".")[:2])
        return tuple(sorted((row for row in self.rows(Toolkit) if row.cuda == minor), key=lambda x: x.update))

    def cuda_libraries(self, cuda: str) -> Optional[CudaLibraries]:
        """The library names of a CUDA toolkit ("11.8") on Linux."""
        return next((row for row in self.rows(CudaLibraries) if fits(cuda, row.cuda)), None)

    def driver_floor(self, cuda: str, system: str = "linux") -> Optional[DriverFloor]:
        """The drivers a toolkit ("12.2", "12.5.1") needs on "linux" or "windows" (WSL 2: the Windows driver).

        None when the tables do not know that CUDA, or no Windows driver for it.
        """
        windows = system in ("windows", "wsl2")
        minor = ".".join(cuda.split(".")[:2])
        families = {row.family: row for row in self.rows(DriverFamily)}
        family = families.get(minor) or families.get(minor.split(".")[0])
        releases = self.toolkits(cuda)
        toolkit = releases[0] if releases else None
        own = None if toolkit is None else toolkit.windows if windows else toolkit.linux
        minimum = own if family is None else family.windows if windows else family.linux
        if minimum is None:
            return None
        decides: Row = family or toolkit  # type: ignore[assignment]
        by_family = family is not None and family.minor_version_compatibility
        note = "" if family is None else family.note
        return DriverFloor(minor, system, minimum, own, by_family, note, decides.source, decides.solid)

    def driver_branch(self, driver: str) -> Optional[DriverBranch]:
        """The branch of a Linux driver version, or the newest known branch below it ("536" -> 535)."""
        number = driver_branch_of(driver)
        known = [row for row in self.rows(DriverBranch) if number is not None and row.branch <= number]
        return max(known, key=lambda row: row.branch, default=None)

    def driver_for_cuda(self, cuda: str) -> Optional[DriverBranch]:
        """The oldest driver branch that implements a CUDA driver API version ("12.4")."""
        wanted = _parsed(cuda)
        enough = [row for row in self.rows(DriverBranch) if wanted is not None and Parsed(row.cuda) >= wanted]
        return min(enough, key=lambda row: row.branch, default=None)

    def forward_compat(self, cuda: str, driver: str) -> Optional[ForwardCompat]:
        """The cuda-compat package that brings ``cuda`` to an older ``driver``; None when none is listed."""
        minor, branch = ".".join(cuda.split(".")[:2]), driver_branch_of(driver)
        return next(
            (row for row in self.rows(ForwardCompat) if row.cuda == minor and branch in row.on_branches),
            None,
        )

    def ptx_driver(self, ptx_isa: str) -> Optional[PtxIsa]:
        """The row of a PTX ISA version ("8.5"): the CUDA release and driver branch that can compile it."""
        return next((row for row in self.rows(PtxIsa) if row.ptx_isa == ptx_isa), None)

    def cudnn_support(self, version: str, cuda: Optional[str] = None) -> tuple[CudnnSupport, ...]:
        """The builds of a cuDNN version ("9.3.0.75"): a row per CUDA major, newest first, or the one for ``cuda``.

        ``cuda`` is a major version or a release ("12", "12.5.1"). Empty: not in the table.
        """
        found = (row for row in self.rows(CudnnSupport) if fits(version, row.versions))
        wanted = (row for row in found if cuda in (None, row.cuda_major) or fits(str(cuda), row.cuda))
        return tuple(sorted(wanted, key=lambda row: int(row.cuda_major), reverse=True))

    def nccl(self, version: str, cuda: str = "12") -> Optional[NcclSupport]:
        """The build of an NCCL version ("2.21.5") for one CUDA major version."""
        wanted = (version, cuda.split(".")[0])
        return next((row for row in self.rows(NcclSupport) if (row.version, row.cuda_major) == wanted), None)

    def nccl_minimum(self, compute_capability: str, cuda: str = "12") -> Optional[NcclSupport]:
        """The oldest NCCL from which on the builds hold machine code for a compute capability; None: unknown."""
        major = cuda.split(".")[0]
        read = [row for row in self.rows(NcclSupport) if row.cuda_major == major and row.machine_code]
        found: Optional[NcclSupport] = None
        for row in sorted(read, key=lambda row: Parsed(row.version), reverse=True):
            if not runs_on(compute_capability, row.machine_code):
                break
            found = row
        return found

    # Hardware -----------------------------------------------------------------------------------------------

    def gpu(self, name: str) -> Optional[Gpu]:
        """A GPU by a driver's, a cloud's or a person's name ("NVIDIA A100-SXM4-40GB", "rtx 5090")."""
        return find_gpu(name, self.rows(Gpu))

    def gpu_near(self, name: str) -> tuple[str, ...]:
        """Names of the table that are most like ``name``, for an error message."""
        return near(name, [spelling for row in self.rows(Gpu) for spelling in (row.name, *row.aliases)])

    def other_gpu(self, name: str, system: Optional[str] = None) -> Optional[OtherGpu]:
        """How a GPU that is not NVIDIA's ("Apple M2", "Radeon RX 7900 XTX") is reached, on ``system`` where there is a way.

        Else on the first system that has one; None for others.
        """
        lower = " ".join(name.lower().split())
        found = [row for row in self.rows(OtherGpu) if re.fullmatch(row.pattern, lower)]
        return next((row for row in found if row.system == system), next(iter(found), None))

    def compute_capability(self, value: str) -> Optional[ComputeCapability]:
        """A compute capability by "8.6", "sm_86", "compute_86" or "86"; the code for it alone ("9.0a", "sm_100f") counts."""
        value = value.rstrip("af")
        text = value if "." in value else (as_text(value) if re.fullmatch(r"\w*[0-9]{2,3}", value) else value)
        return next((row for row in self.rows(ComputeCapability) if row.compute_capability == text), None)

    def nvlink(self, generation: int) -> Optional[NvlinkGeneration]:
        """An NVLink generation and its rates."""
        return next((row for row in self.rows(NvlinkGeneration) if row.generation == generation), None)

    def pcie(self, generation: int) -> Optional[PcieGeneration]:
        """A PCI Express generation and its rate per lane and direction; ``row.gbs(16)`` for a link."""
        return next((row for row in self.rows(PcieGeneration) if row.generation == generation), None)

    def instance(self, name: str) -> Optional[Instance]:
        """A cloud instance type ("p4d.24xlarge", "Standard_ND96asr_v4", "GN10Xp.20XLARGE320")."""
        return next((row for row in self.rows(Instance) if re.fullmatch(row.pattern, name, re.IGNORECASE)), None)

    def node_baseline(self, node: str) -> Optional[NodeBaseline]:
        """What is expected of a healthy node type ("Standard_ND96asr_v4" or "nd96asr_v4")."""
        wanted = node.lower().removeprefix("standard_")
        return next((row for row in self.rows(NodeBaseline) if row.node == wanted), None)

    def device_baselines(self, gpu: str) -> tuple[DeviceBaseline, ...]:
        """What is expected of a GPU model (its name in the table of GPUs), one row for each of its PCI device ids."""
        return tuple(row for row in self.rows(DeviceBaseline) if row.gpu == gpu)

    # Codes and limits ---------------------------------------------------------------------------------------

    def error(self, name_or_value: str, api: Optional[str] = None) -> Optional[ErrorCode]:
        """An error code by its name ("CUDA_ERROR_NO_DEVICE"), or by its number with the API it is from."""
        rows = [row for row in self.rows(ErrorCode) if api in (None, row.api)]
        by_name = [row for row in rows if row.name.lower() == name_or_value.lower()]
        by_value = [row for row in rows if api is not None and str(row.value) == name_or_value]
        return next(iter(by_name or by_value), None)

    def xid(self, number: int) -> Optional[Xid]:
        """An Xid of the kernel log."""
        return next((row for row in self.rows(Xid) if row.xid == number), None)

    def threshold(self, name: str) -> Threshold:
        """A limit by its name. Raises TableError when there is none: no rule runs without its limit."""
        for row in self.rows(Threshold):
            if row.name == name:
                return row
        raise TableError(f'thresholds.json has no row "{name}".')


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
