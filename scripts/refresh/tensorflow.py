"""The rows of compat/tensorflow.json, rebuilt from the wheels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Optional

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from refresh import wheel
from refresh.index import Index, WheelFile, by_platform, preferred, python_order
from refresh.resolve import resolved

#: Columns that no wheel states; they stay as a person entered them.
CURATED = ("checked", "disagreements")
#: The distributions whose ranges a release states and that people get wrong.
FOLLOWED = (
    "flatbuffers", "gast", "grpcio", "h5py", "keras", "keras-nightly", "ml-dtypes", "numpy", "protobuf", "scipy", "tensorboard",
    "tensorflow-estimator", "tensorflow-io-gcs-filesystem", "typing-extensions", "wrapt",
)  # fmt: skip
#: cublasLt has no version of its own in cuda_config.h: it is cuBLAS's. TensorFlow asks for it from 2.5 on.
_CUBLAS_LT_FROM = Version("2.5")
#: What TF-TRT asks dlopen for follows ".so." here, from these releases on; no header states it. Seen with LD_DEBUG=files in
#: the last release of each minor, 2.0 to 2.17; 2.0 and, from 2.18 on, all are built without TensorRT.
_NVINFER = {"2.0": "", "2.1": "6", "2.4": "7", "2.12": "8", "2.15": "8.6.1", "2.18": ""}
_MIB = 1 << 20


def releases(index: Index, since: str = "2.0") -> list[str]:
    """The final releases from ``since`` on, oldest first."""
    return [v for v in index.versions("tensorflow") if Version(v) >= Version(since)]


def row(
    index: Index, version: str, old: Optional[Mapping[str, Any]], today: str, libraries: bool = True
) -> dict[str, Any]:
    """One release's row. ``old``: the committed row, for the curated columns and the official cuDNN.

    ``libraries=False`` leaves the libraries unread: the columns that come from them are then empty.
    """
    wheels = [w for w in index.wheels("tensorflow") if w.version == version]
    main_wheel = preferred(_linux(wheels))
    main = index.read(main_wheel, "light", wheel.light)
    gpu_wheel = _gpu_wheel(index, version, main_wheel, main)
    built = index.read(gpu_wheel, "light", wheel.light) if gpu_wheel else {"build_info": {}, "cuda_config": {}}
    unread: dict[str, Any] = {"runpath": None, "code": {}}
    code = index.read(gpu_wheel, "deep", wheel.deep) if gpu_wheel and libraries else unread
    extra = _extra(main["requires_dist"], "and-cuda")
    found = {
        "version": version,
        "released": min((w.uploaded for w in wheels if w.uploaded), default=(old or {}).get("released", "")),
        "gpu_distribution": gpu_wheel.project if gpu_wheel else "tensorflow",
        "pythons": _pythons(_linux(wheels)),
        "requires_python": _specifier(main["requires_python"] or ""),
        "glibc_floor": _glibc(main_wheel.platform),
        "platforms": [_platform(index, tag, files) for tag, files in by_platform(wheels)],
        "requires": _requirements(main["requires_dist"]),
        "installed_mib": round(main["installed_bytes"] / _MIB),
        "download_mib": round((main_wheel.size or 0) / _MIB),
        "source": f"wheel {(gpu_wheel or main_wheel).filename} (sha256 {(gpu_wheel or main_wheel).sha256[:16]}); "
        "https://www.tensorflow.org/install/source",
        "grade": "measured",
        **_cuda(built, version, old),
        **_code(code),
        **_and_cuda(index, extra),
    }
    found.update({name: (old or {}).get(name, [] if name == "disagreements" else today) for name in CURATED})
    return found


def _linux(wheels: Iterable[WheelFile]) -> list[WheelFile]:
    return [w for w in wheels if "linux" in w.platform and "x86_64" in w.platform]


def _gpu_wheel(index: Index, version: str, main: WheelFile, facts: Mapping[str, Any]) -> Optional[WheelFile]:
    """The Linux wheel with the CUDA build: the main one, else the one of tensorflow-gpu."""
    if facts["build_info"].get("is_cuda_build"):
        return main
    other = _linux(w for w in index.wheels("tensorflow-gpu") if w.version == version)
    return preferred(other) if other else None


def _cuda(built: Mapping[str, Any], version: str, old: Optional[Mapping[str, Any]]) -> dict[str, Any]:
    """What the build states: the headers in the wheel first, then build_info, then the official table."""
    info, config = built["build_info"], built["cuda_config"]
    says_cuda = info.get("cuda_version") or info.get("cuda_version_number")
    header = built.get("cudnn_header")
    official = old is not None and old["cudnn_from"] == "official table"
    capabilities = info.get("cuda_compute_capabilities") or _from_header(config)
    names = wheel.sonames(config)
    if "cublas" in names and Version(version) >= _CUBLAS_LT_FROM:
        names["cublasLt"] = names["cublas"].replace("libcublas", "libcublasLt")
    if names and (tensorrt := _tensorrt(version)):
        names.update({name: f"lib{name}.so.{tensorrt}" for name in ("nvinfer", "nvinfer_plugin")})
    nccl = built.get("nccl_header")
    return {
        "cuda": _minor(config.get("TF_CUDA_VERSION") or says_cuda),
        "cudnn": header or (old["cudnn"] if official and old else info.get("cudnn_version")),
        "cudnn_from": "header" if header else ("official table" if official else "build_info"),
        "nccl": nccl,
        "nccl_linkage": None if nccl is None else _nccl_linkage(version),
        "compute_capabilities": capabilities,
        "tensorrt": info.get("is_tensorrt_build"),
        "sonames": dict(sorted(names.items())),
    }


def _tensorrt(version: str) -> str:
    """The version in the name of the TensorRT library that a release opens; "" when it opens none."""
    return [suffix for since, suffix in _NVINFER.items() if Version(version) >= Version(since)][-1]


def _minor(cuda: Optional[str]) -> Optional[str]:
    """ "10" of the old build_info means 10.0."""
    return f"{cuda}.0" if cuda is not None and cuda.isdigit() else cuda


def _nccl_linkage(version: str) -> str:
    """Up to 2.20 NCCL is compiled in; from 2.21 the RUNPATH names the folder of the NCCL package."""
    return "wheel" if Version(version) >= Version("2.21") else "static"


def _from_header(config: Mapping[str, str]) -> list[str]:
    """ "60, 70, 90" of cuda_config.h; the last one is PTX too, which the header does not say."""
    numbers = re.findall(r"\d+", config.get("TF_CUDA_COMPUTE_CAPABILITIES", ""))
    return [f"sm_{number}" for number in numbers[:-1]] + [f"compute_{number}" for number in numbers[-1:]]


def _code(code: Mapping[str, Any]) -> dict[str, Any]:
    """RUNPATH folders, and the fat binaries of all libraries of the wheel by what they hold."""
    counts: Counter[tuple[tuple[int, ...], Optional[int], Optional[str]]] = Counter()
    for library in code["code"].values():
        for machine, ptx, count in library:
            architecture, isa = max(ptx) if ptx else (None, None)
            if not machine:  # relocatable code: what the device linker made of it is in another fat binary
                continue
            counts[(tuple(machine), architecture, isa)] += count
    rows = [
        {
            "machine_code": [f"sm_{number}" for number in machine],
            "ptx": None if architecture is None else f"compute_{architecture}",
            "ptx_isa": isa,
            "count": count,
        }
        for (machine, architecture, isa), count in sorted(counts.items(), key=repr)
    ]
    return {"gpu_code": rows, "runpath_dirs": code["runpath"]}


def _and_cuda(index: Index, extra: Optional[dict[str, str]]) -> dict[str, Any]:
    if extra is None:
        return {"and_cuda": None, "and_cuda_resolved": None, "and_cuda_missing": [], "and_cuda_download_mib": None}
    found = resolved(index, extra)
    return {
        "and_cuda": extra,
        "and_cuda_resolved": {name: file.version for name, file in found.items() if file is not None},
        "and_cuda_missing": [name for name, file in found.items() if file is None],
        "and_cuda_download_mib": round(sum(file.size or 0 for file in found.values() if file) / _MIB),
    }


def _platform(index: Index, tag: str, wheels: list[WheelFile]) -> dict[str, Any]:
    facts = index.read(preferred(wheels), "light", wheel.light)
    system = "linux" if "linux" in tag else "windows" if tag.startswith("win") else "macos"
    stub = facts["members"] < 20
    return {
        "system": system,
        "machine": "aarch64" if re.search("aarch64|arm64", tag) else "x86_64",
        "tag": tag,
        "pythons": _pythons(wheels),
        "is_cuda": bool(facts["build_info"].get("is_cuda_build")),
        "stub": stub,
        "forwards_to": _forwards(facts["requires_dist"], system) if stub else None,
    }


def _forwards(requires: list[str], system: str) -> Optional[str]:
    """The distribution that a stub installs on its system."""
    name = {"linux": "Linux", "windows": "Windows", "macos": "Darwin"}[system]
    asked = [Requirement(text) for text in requires]
    fitting = [a.name for a in asked if a.marker is None or f'platform_system == "{name}"' in str(a.marker)]
    return str(canonicalize_name(fitting[0])) if fitting else None


def _requirements(requires: list[str]) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for asked in map(_requirement, requires):
        name, marker = str(canonicalize_name(asked.name)), str(asked.marker or "")
        if name in FOLLOWED and "extra ==" not in marker:
            found.setdefault(name, []).append({"range": _specifier(str(asked.specifier)), "marker": marker})
    return dict(sorted(found.items()))


def _extra(requires: list[str], extra: str) -> Optional[dict[str, str]]:
    asked = [a for a in map(_requirement, requires) if re.search(rf'extra == "{extra}"', str(a.marker or ""))]
    ranges = {str(canonicalize_name(a.name)): _specifier(str(a.specifier)) for a in asked}
    return dict(sorted(ranges.items())) or None


def _requirement(text: str) -> Requirement:
    """Old metadata writes "<5.0.0dev"; the standard form is "<5.0.0.dev0"."""
    return Requirement(re.sub(r"(\d)dev(?=\D|$)", r"\1.dev0", text))


def _specifier(text: str) -> str:
    return ",".join(sorted(part.strip() for part in text.split(",") if part.strip()))


def _pythons(wheels: Iterable[WheelFile]) -> list[str]:
    return sorted({w.python for w in wheels}, key=python_order)


def _glibc(tag: str) -> str:
    """The floor that the tag promises: manylinux_2_27, or the old names' fixed floors."""
    named = re.search(r"manylinux_(\d+)_(\d+)", tag)
    if named:
        return f"{named.group(1)}.{named.group(2)}"
    return {"manylinux2014": "2.17", "manylinux2010": "2.12", "manylinux1": "2.5"}[tag.partition("_")[0]]
