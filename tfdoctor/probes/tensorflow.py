"""TensorFlow as installed in the target, read without importing it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.loose import items, mapping, text
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.interpreter import FREEZE, Distributions, canonical
from tfdoctor.probes.platform import Platform
from tfdoctor.tables import Tables
from tfdoctor.tables.tf_rows import TfRelease


@dataclass(frozen=True)
class TensorFlowPackages:
    """Every distribution that owns the folder tensorflow/: (normalized name, version). Empty: none installed.

    `folder`: a folder tensorflow/ lies in site-packages although none (or another) claims it; `core`: TensorFlow's compiled
    core is in it. `shadow`: a file or folder named tensorflow that comes before site-packages on sys.path ("" none)."""

    installed: tuple[tuple[str, str], ...]
    folder: str
    shadow: str
    source: str
    core: bool = False


@dataclass(frozen=True)
class TensorFlow:
    """The TensorFlow that `import tensorflow` would find. NotApplicable when none is installed.

    `distribution` normalized ("tensorflow", "tensorflow-cpu", "tensorflow-rocm"…), `version` as printed, `location` its folder ("" unknown).
    `cuda_build` None: cannot tell. `cuda` and `cudnn` are the versions it was built for ("12.5.1", "9" …; "" unknown or none),
    `nccl` likewise. `compute_capabilities` as built in: ("sm_60", "compute_90"); empty: unknown. `rocm_build` likewise.
    `ptx_isa`: PTX version in the build ("8.5", "" unknown). `source` names where the build's facts come from: the wheel itself or the table.
    `in_table`: the compatibility tables know this release."""

    distribution: str
    version: str
    location: str
    cuda_build: Optional[bool]
    rocm_build: Optional[bool]
    cuda: str
    cudnn: str
    nccl: str
    compute_capabilities: tuple[str, ...]
    ptx_isa: str
    in_table: bool
    source: str


@dataclass(frozen=True)
class _Build:
    """What one source says of a build; None and "" where it says nothing."""

    source: str
    cuda_build: Optional[bool] = None
    rocm_build: Optional[bool] = None
    cuda: str = ""
    cudnn: str = ""
    nccl: str = ""
    compute_capabilities: tuple[str, ...] = ()


@probe
def tensorflow_packages(host: Host, distributions: Distributions, tables: Tables) -> TensorFlowPackages:
    """Which distributions own tensorflow/, and what lies in its way."""
    if distributions.source == FREEZE:
        return TensorFlowPackages(_frozen_owners(distributions, tables), "", "", FREEZE)
    answer = host.target_answer()
    found = mapping(answer.get("tensorflow"))
    entries = [mapping(d) for d in items(answer.get("distributions"))]
    owners = [e for e in entries if e.get("owns_tensorflow") is True]
    installed = tuple(dict.fromkeys((canonical(text(e.get("name"))), text(e.get("version"))) for e in owners))
    where, in_site = text(found.get("found")), found.get("site") is True
    real = found.get("real") is True
    shadows = bool(where) and not real and not in_site and found.get("kind") != "namespace"
    return TensorFlowPackages(
        installed=installed,
        folder=where if where and not installed and (in_site or real) else "",
        shadow=where if shadows else "",
        source=distributions.source,
        core=real,
    )


def _frozen_owners(distributions: Distributions, tables: Tables) -> tuple[tuple[str, str], ...]:
    """By name alone. A `tensorflow` that only forwards to another installed one (Windows 2.12 to 2.17) owns nothing."""
    owners = {name: d.version for name, d in distributions.by_name.items() if _provides(name, tables)}
    row = tables.release(owners["tensorflow"]) if "tensorflow" in owners else None
    forwards_to = {p.forwards_to for p in row.platforms if p.stub} if row else set()
    if any(owners.get(name or "") == owners.get("tensorflow") for name in forwards_to):
        del owners["tensorflow"]
    return tuple(owners.items())


def _provides(name: str, tables: Tables) -> bool:
    row = tables.distribution(name)
    return name in ("tensorflow", "intel-tensorflow", "nvidia-tensorflow", "tf-nightly-gpu", "tf-nightly-cpu") or (
        row is not None and row.provides_tensorflow
    )


@probe
def tensorflow(
    host: Host,
    packages: TensorFlowPackages,
    distributions: Distributions,
    tables: Tables,
    platform: Optional[Platform],
) -> TensorFlow:
    """The installed TensorFlow, and what it was built for: from the wheel itself first, else from the table."""
    name, version = _installed(packages, distributions)
    found: Mapping[str, Any] = {}
    if distributions.source != FREEZE:
        found = mapping(host.target_answer().get("tensorflow"))
    location = text(found.get("found")) if found.get("real") is True else text(found.get("real_behind"))
    own = _what_it_says(found, version, location)
    version = version or _header_version(mapping(found.get("headers")))
    row = tables.release(version) if version else None
    row = row if row is not None and _same_minor(row.version, version) else None
    official = row if row is not None and _is_official(name, version, row) else None
    build = _completed(own, official, _table_says_cuda(name, official, *_system(host, platform, distributions), tables))
    has_cuda = build.cuda_build is True
    return TensorFlow(
        distribution=name,
        version=version,
        location=location,
        cuda_build=build.cuda_build,
        rocm_build=build.rocm_build,
        cuda=build.cuda,
        cudnn=build.cudnn,
        nccl=build.nccl,
        compute_capabilities=build.compute_capabilities,
        ptx_isa=(official.ptx_isa or "") if official is not None and has_cuda else "",
        in_table=row is not None,
        source=build.source,
    )


def _installed(packages: TensorFlowPackages, distributions: Distributions) -> tuple[str, str]:
    """The distribution whose files are on disk: the least damaged one where several own the folder."""
    if not packages.installed:
        if packages.folder:
            return "", ""  # a folder that no distribution claims: only its own texts can tell what it is
        raise NotApplicable(_("TensorFlow is not installed"))

    def damaged(owner: tuple[str, str]) -> int:
        entry = distributions.by_name.get(owner[0])
        return entry.damaged if entry else 0

    return min(packages.installed, key=damaged)


# What the wheel says ----------------------------------------------------------------------------------------------


def _what_it_says(found: Mapping[str, Any], version: str, location: str) -> _Build:
    """From build_info.py and the headers in the wheel; from "+nv24.01" in the version where there is nothing else."""
    info = parse_build_info(text(found.get("build_info")))
    headers = {name: _defines(text(value)) for name, value in mapping(found.get("headers")).items()}
    config, nccl = headers.get("cuda_config.h", {}), headers.get("nccl.h", {})
    if not info:
        nvidia = re.search(r"\+nv[0-9]", version) is not None
        return _Build(
            source=_("the version {version}").format(version=version) if nvidia else "", cuda_build=nvidia or None
        )
    cuda_build = info.get("is_cuda_build")
    rocm_build = info.get("is_rocm_build")
    is_cuda = cuda_build is True
    capabilities = info.get("cuda_compute_capabilities")
    return _Build(
        source=f"{location}/python/platform/build_info.py",
        cuda_build=cuda_build if isinstance(cuda_build, bool) else None,
        rocm_build=rocm_build if isinstance(rocm_build, bool) else None,
        cuda=(_plain_version(config.get("TF_CUDA_VERSION", "")) or _dotted(info, "cuda_version")) if is_cuda else "",
        cudnn=(_joined(headers.get("cudnn_version.h", {}), "CUDNN_") or _dotted(info, "cudnn_version"))
        if is_cuda
        else "",
        nccl=_joined(nccl, "NCCL_") if is_cuda else "",
        compute_capabilities=tuple(c for c in capabilities if isinstance(c, str))
        if isinstance(capabilities, list)
        else (),
    )


def parse_build_info(source: str) -> dict[str, Any]:
    """The names that build_info.py binds, and those in its dictionary `build_info`, without running it; {} for what is not Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[str, Any] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        value: ast.expr = node.value
        if isinstance(value, ast.Call) and len(value.args) == 1:  # collections.OrderedDict([(name, value), …])
            value = value.args[0]
        try:
            literal = ast.literal_eval(value)
            as_dict = dict(literal) if isinstance(literal, (dict, list, tuple)) else {node.targets[0].id: literal}
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        found.update((k, v) for k, v in as_dict.items() if isinstance(k, str))
    return found


def _dotted(info: Mapping[str, Any], name: str) -> str:
    """A version of build_info; before 2.3 under another name."""
    return _plain_version(text(info.get(name)) or text(info.get(f"{name}_number")))


def _plain_version(value: str) -> str:
    """ "12.5.1" as it is, Windows' "64_112" as "11.2" and "64_8" as "8"."""
    if not value.startswith("64_"):
        return value
    digits = value[3:]
    return f"{digits[:-1]}.{digits[-1]}" if len(digits) > 1 else digits


def _defines(header: str) -> dict[str, str]:
    """`#define NAME VALUE` lines, quotes taken off."""
    found = re.findall(r"^#define\s+(\w+)\s+(\S.*?)\s*$", header, re.M)
    return {name: value.strip('"') for name, value in found}


def _joined(defines: Mapping[str, str], prefix: str) -> str:
    """MAJOR, MINOR and PATCH of a header as "9.3.0"; "" where one of the first two is not there."""
    patch = defines.get(f"{prefix}PATCHLEVEL", defines.get(f"{prefix}PATCH", ""))
    parts = [defines.get(f"{prefix}MAJOR", ""), defines.get(f"{prefix}MINOR", ""), patch]
    return ".".join(p for p in parts if p) if all(p.isdigit() for p in parts[:2]) else ""


def _header_version(headers: Mapping[str, Any]) -> str:
    defines = _defines(text(headers.get("version.h")))
    parts = [defines.get(f"TF_{part}_VERSION", "") for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(parts) if all(p.isdigit() for p in parts) else ""


# What the table says ----------------------------------------------------------------------------------------------


def _same_minor(one: str, other: str) -> bool:
    return one.split(".")[:2] == other.split(".")[:2]


def _is_official(name: str, version: str, row: TfRelease) -> bool:
    """Is this a build that the row describes? Vendor builds carry a local version ("+nv24.01"), and pre-releases differ."""
    return name in (
        "tensorflow",
        "tensorflow-gpu",
        "tensorflow-cpu",
        "tensorflow-intel",
        "tensorflow-macos",
        "tensorflow-cpu-aws",
    ) and (version == row.version)


def _system(host: Host, platform: Optional[Platform], distributions: Distributions) -> tuple[str, str]:
    """(linux | windows | macos | "", x86_64 | aarch64 | "") of the target."""
    if platform is not None:
        return {"darwin": "macos"}.get(platform.system, platform.system), platform.machine
    if distributions.source == FREEZE:
        return "", ""
    try:
        python = mapping(host.target_answer().get("python"))
    except Unavailable:
        return "", ""
    system = {"linux": "linux", "win32": "windows", "darwin": "macos"}.get(text(python.get("platform")), "")
    machine = text(python.get("machine"))
    return system, {"AMD64": "x86_64", "arm64": "aarch64"}.get(machine, machine)


def _table_says_cuda(name: str, row: Optional[TfRelease], system: str, machine: str, tables: Tables) -> Optional[bool]:
    """Is the official build of this name, on this system, a CUDA build? None: the tables cannot tell."""
    known = tables.distribution(name)
    if known is not None and known.kind == "cpu":
        return False
    if name == "tensorflow-rocm":
        return False
    if row is None:
        return None
    if name == row.gpu_distribution or name == "tensorflow-gpu":
        wheels = row.platform(system, machine)
        if wheels is not None:
            return wheels.is_cuda
        known_everywhere = {p.is_cuda for p in row.platforms}
        return known_everywhere.pop() if len(known_everywhere) == 1 else None
    return False if row.gpu_distribution == "tensorflow-gpu" and name == "tensorflow" else None


def _completed(own: _Build, row: Optional[TfRelease], table_says_cuda: Optional[bool]) -> _Build:
    """What the wheel says of itself, with the table's where it says nothing."""
    cuda_build = own.cuda_build if own.cuda_build is not None else table_says_cuda
    by_table = row is not None and own.cuda_build is None and table_says_cuda is not None
    source = own.source or (row.source if row is not None and by_table else "")
    if row is None or not cuda_build:
        return _Build(source, cuda_build, own.rocm_build, own.cuda, own.cudnn, own.nccl, own.compute_capabilities)
    return _Build(
        source=source,
        cuda_build=cuda_build,
        rocm_build=own.rocm_build if own.source else False,
        cuda=_finer(own.cuda, row.cuda or ""),
        cudnn=_finer(own.cudnn, row.cudnn or ""),
        nccl=own.nccl or row.nccl or "",
        compute_capabilities=own.compute_capabilities or row.compute_capabilities,
    )


def _finer(own: str, tabled: str) -> str:
    """The wheel's own version; the table's where the wheel says none, or only its beginning ("8" and "8.9.6")."""
    return tabled if not own or tabled.startswith(own + ".") else own
