"""What a TensorFlow wheel says of itself: metadata, build information, headers, libraries, GPU code."""

from __future__ import annotations

import ast
import re
import shutil
import tempfile
from collections.abc import Iterable
from email.parser import HeaderParser
from typing import IO, Any, Optional

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from remotezip import RemoteZip

from refresh.fatbin import scan

_COMPONENTS = {
    "cublas": "TF_CUBLAS_VERSION",
    "cudart": "TF_CUDART_VERSION",
    "cudnn": "TF_CUDNN_VERSION",
    "cufft": "TF_CUFFT_VERSION",
    "cupti": "TF_CUPTI_VERSION",
    "curand": "TF_CURAND_VERSION",
    "cusolver": "TF_CUSOLVER_VERSION",
    "cusparse": "TF_CUSPARSE_VERSION",
}


def metadata(archive: RemoteZip) -> dict[str, Any]:
    """Requires-Dist and Requires-Python of a wheel."""
    name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
    headers = HeaderParser().parsestr(archive.read(name).decode("utf-8", "replace"))
    return {"requires_dist": headers.get_all("Requires-Dist") or [], "requires_python": headers["Requires-Python"]}


def light(archive: RemoteZip) -> dict[str, Any]:
    """Everything that small members say."""
    members = archive.infolist()
    return {
        **metadata(archive),
        "members": len(members),
        "installed_bytes": sum(member.file_size for member in members),
        "build_info": _build_info(archive),
        "cuda_config": _cuda_config(archive),
        "cudnn_header": _header_version(archive, "cudnn_version.h", ("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")),
        "nccl_header": _header_version(archive, "nccl.h", ("NCCL_MAJOR", "NCCL_MINOR", "NCCL_PATCH")),
    }


def deep(archive: RemoteZip) -> dict[str, Any]:
    """RUNPATH of the libraries that call dlopen, and all GPU code; reads hundreds of megabytes."""
    runpaths: dict[str, list[str]] = {}
    code: dict[str, list[list[Any]]] = {}
    for name in archive.namelist():
        short = name.rpartition("/")[2]
        if not re.fullmatch(
            r"libtensorflow_(framework|cc)\.so\.\d|_pywrap_tensorflow_(internal|common)\.so|"
            r"libtensorflow_framework\.so\.\d\.\d+\.\d+",
            short,
        ):
            continue
        with tempfile.TemporaryFile() as copy, archive.open(name) as member:
            shutil.copyfileobj(member, copy, 1 << 22)
            runpaths[short] = _pip_folders(copy)
            copy.seek(0)
            found = scan(copy)
        if found:
            code[short] = [[machine, ptx, count] for (machine, ptx), count in sorted(found.items())]
    return {"runpath": runpaths, "code": code}


def sonames(cuda_config: dict[str, str]) -> dict[str, str]:
    """The library names TensorFlow asks dlopen for, from the versions in its cuda_config.h."""
    names = {c: f"lib{c}.so.{cuda_config[key]}" for c, key in _COMPONENTS.items() if cuda_config.get(key)}
    if "cudart" not in names and cuda_config.get("TF_CUDA_VERSION"):  # up to 2.3 its version is the toolkit's
        names["cudart"] = f"libcudart.so.{cuda_config['TF_CUDA_VERSION']}"
    if names.get("cudart") == "libcudart.so.11":
        names["cudart"] = "libcudart.so.11.0"
    return names


def _build_info(archive: RemoteZip) -> dict[str, Any]:
    name = _member(archive.namelist(), r"python/platform/build_info\.py")
    if name is None:
        return {}
    values: dict[str, Any] = {}
    for node in ast.walk(ast.parse(archive.read(name))):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values.update(_constants(node.targets[0].id, node.value))
    return values


def _constants(name: str, value: ast.expr) -> dict[str, Any]:
    """``build_info = collections.OrderedDict({...})`` as its items; ``cuda_version_number = '10.1'`` as itself."""
    inner = value.args[0] if isinstance(value, ast.Call) and value.args else value
    try:
        constant = ast.literal_eval(inner)
    except ValueError:
        return {}
    return dict(constant) if name == "build_info" else {name: constant}


def _cuda_config(archive: RemoteZip) -> dict[str, str]:
    name = _member(archive.namelist(), r"include/.*cuda/cuda_config\.h")
    if name is None:
        return {}
    text = archive.read(name).decode("utf-8", "replace")
    found = dict(re.findall(r'^#define (TF_\w+) "?([^"\n]*?)"?\s*$', text, re.MULTILINE))
    capabilities = re.search(r"TF_CUDA_COMPUTE_CAPABILITIES\s+([0-9][0-9, ]*)", text)
    found.pop("TF_CUDA_COMPUTE_CAPABILITIES", None)
    if capabilities:
        found["TF_CUDA_COMPUTE_CAPABILITIES"] = capabilities.group(1).strip()
    return {key: value for key, value in found.items() if value}


def _header_version(archive: RemoteZip, header: str, names: tuple[str, str, str]) -> Optional[str]:
    name = _member(archive.namelist(), rf"include/.*/{re.escape(header)}")
    if name is None:
        return None
    text = archive.read(name).decode("utf-8", "replace")
    parts = [re.search(rf"#define {part}\s+(\d+)", text) for part in names]
    return ".".join(part.group(1) for part in parts if part) if all(parts) else None


def _member(names: Iterable[str], pattern: str) -> Optional[str]:
    return next((name for name in names if re.search(pattern + "$", name)), None)


def _pip_folders(file: IO[bytes]) -> list[str]:
    """The folders below site-packages on an ELF file's RUNPATH or RPATH, in order."""
    dynamic = ELFFile(file).get_section_by_name(".dynamic")
    folders: list[str] = []
    if not isinstance(dynamic, DynamicSection):
        return folders
    for tag in dynamic.iter_tags():
        text = getattr(tag, "runpath", None) or getattr(tag, "rpath", None)
        for entry in (text or "").split(":"):
            folder = re.fullmatch(r"\$ORIGIN/(?:\.\./)+((?:nvidia/|tensorrt).*?)/?", entry)
            if folder and folder.group(1) not in folders:
                folders.append(folder.group(1))
    return folders
