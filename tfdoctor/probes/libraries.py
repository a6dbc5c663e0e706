"""Which file the loader would pick for each library that this TensorFlow asks for: computed, not guessed."""

from __future__ import annotations

import ntpath
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional

from tfdoctor.elf import Elf
from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.loader import LD_LIBRARY_PATH, Loaded, Loader, Opened
from tfdoctor.loader_cache import parse_cache, usable_hwcaps
from tfdoctor.loose import mapping, text, texts
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.cudnn_parts import CUDNN_PARTS, with_parts
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.probes.library_files import LibraryFile, LibraryFiles, component_of
from tfdoctor.probes.looking import if_told
from tfdoctor.probes.platform import Cpu, Platform
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.probes.windows_libraries import WindowsSearch, dll_of, driver_copy
from tfdoctor.tables import Tables, fits

__all__ = ["DriverLibrary", "Libraries", "Library", "LibraryFile"]

# What TensorFlow opens before it lists a GPU, in its order; one of these missing means no GPU at all (dlopen_checker.cc).
NEEDED = ("cudart", "cublas", "cublasLt", "cufft", "curand", "cusolver", "cusparse", "cudnn")
# What it opens later, for one feature: profiling, collectives, TensorRT.
TENSORRT = ("nvinfer", "nvinfer_plugin")
OPTIONAL = ("cupti", "nccl", *TENSORRT)
# cuRAND left that list: the wheels of 2.14 on have neither its folder on the RUNPATH nor the function that opens it.
CURAND_NEEDED = "<2.14.dev0"
# Name in cuda_config.h -> component; the value is what follows ".so." in the soname.
CONFIG = {
    "TF_CUDART_VERSION": "cudart", "TF_CUBLAS_VERSION": "cublas", "TF_CUFFT_VERSION": "cufft", "TF_CURAND_VERSION": "curand",
    "TF_CUSOLVER_VERSION": "cusolver", "TF_CUSPARSE_VERSION": "cusparse", "TF_CUDNN_VERSION": "cudnn", "TF_CUPTI_VERSION": "cupti",
}  # fmt: skip
# The object whose code calls dlopen, best known first; its RUNPATH is the one that counts.
CALLERS = ("libtensorflow_framework.so.2", "libtensorflow_framework.so.1", "_pywrap_tensorflow_internal.so")
# The object that opens TensorRT, by release; from 2.18 on none does (seen with LD_DEBUG=files, 2.1.4 to 2.17.1).
TENSORRT_CALLERS = {
    "<2.3.dev0": "libtensorflow_framework.so.2",
    ">=2.3.dev0,<2.4.dev0": "_pywrap_py_utils.so",
    ">=2.4.dev0,<2.11.dev0": "_pywrap_tensorflow_internal.so",
    ">=2.11.dev0,<2.16.dev0": "libtensorflow_framework.so.2",
    ">=2.16.dev0": "_pywrap_py_utils.so",
}
WINDOWS_CALLER = "_pywrap_tensorflow_internal.pyd"
MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64", "ppc64le": "EM_PPC64"}
DRIVER_PLACES = (
    "/usr/lib/wsl/lib/libcuda.so*", "/usr/local/cuda*/compat/libcuda.so*", "/usr/local/cuda*/lib64/stubs/libcuda.so*",
    "/usr/local/cuda*/targets/*/lib/stubs/libcuda.so*", "/usr/lib/*-linux-gnu/libcuda.so*", "/usr/lib64/libcuda.so*",
    "/usr/lib/libcuda.so*", "/usr/lib/*-linux-gnu/nvidia/*/libcuda.so*", "/usr/local/nvidia/lib*/libcuda.so*",
)  # fmt: skip


@dataclass(frozen=True)
class Library:
    """One library that TensorFlow opens. `component`: "cudart", "cublas", "cublasLt", "cufft", "curand", "cusolver", "cusparse",
    "cudnn", "cupti", "nccl", "nvinfer", "nvinfer_plugin" (TensorRT). `needed`: without it TensorFlow uses no GPU (False: only a feature is lost).

    `picked` is the copy that the loader would take, None when it would find none; `how` names the step that found it
    ("RUNPATH of libtensorflow_cc.so.2", "LD_LIBRARY_PATH", "ld.so.cache", "default folder"). `copies` is every other copy
    seen, in the order in which the loader would prefer them, then the rest. `caller` is the object that opens it."""

    soname: str
    component: str
    needed: bool
    picked: Optional[LibraryFile]
    how: str
    copies: tuple[LibraryFile, ...]
    caller: str


@dataclass(frozen=True)
class Libraries:
    """Every library that the installed CUDA build of TensorFlow opens. NotApplicable for a build without CUDA."""

    libraries: tuple[Library, ...]
    search_path: tuple[str, ...]
    source: str

    def get(self, component: str) -> Optional[Library]:
        """The library for `component`, or None when this TensorFlow does not open one."""
        return next((entry for entry in self.libraries if entry.component == component), None)

    @property
    def missing(self) -> tuple[Library, ...]:
        """Needed libraries that the loader would not find."""
        return tuple(entry for entry in self.libraries if entry.needed and entry.picked is None)


@dataclass(frozen=True)
class DriverLibrary:
    """libcuda.so.1 (nvcuda.dll on Windows) as the loader would find it. `picked` None: it would find none. `others` are further copies."""

    picked: Optional[LibraryFile]
    how: str
    others: tuple[LibraryFile, ...]
    source: str


@probe
def libraries(
    host: Host,
    tensorflow: TensorFlow,
    distributions: Distributions,
    tables: Tables,
    platform: Optional[Platform],
    cpu: Optional[Cpu],
) -> Libraries:
    """Open each library as TensorFlow would, one after the other, in a loader that is computed."""
    _must_be_cuda(tensorflow, platform)
    answer = host.target_answer()
    if platform is not None and platform.system == "windows":
        return _on_windows(answer, tensorflow, tables, LibraryFiles(host, distributions, _conda_prefix(answer)))
    caller = _caller(host, answer, tensorflow)
    python, here = text(answer.get("executable")), text(answer.get("cwd"))
    loader = _loader(host, caller.elf.machine, caller.elf.bits, cpu, python, here)
    # The C library and its kin: without them TensorFlow is not there to ask. Builds of conda are linked with CUDA itself.
    loader.assume((n for n in caller.elf.needed if component_of(n) not in (*NEEDED, *OPTIONAL)), caller)
    _preload(host, loader, caller)
    files = LibraryFiles(host, distributions, _conda_prefix(answer))
    seen = files.copies({f: texts(n) for f, n in mapping(answer.get("libraries")).items()}, loader.library_path)
    found = []
    for component, soname in _wanted(answer, tensorflow, tables):
        by = _tensorrt_caller(host, answer, tensorflow) if component in TENSORRT else caller
        if by is not None:
            copies = seen.get(component, [])
            found.append(_library(component, soname, loader.open(soname, by), by, loader, files, copies))
    return Libraries(tuple(found), loader.search_path(caller), caller.path)


def _on_windows(answer: Mapping[str, Any], tensorflow: TensorFlow, tables: Tables, files: LibraryFiles) -> Libraries:
    search, found = WindowsSearch(answer, files), []
    for component, soname in _wanted(answer, tensorflow, tables):
        if component in TENSORRT:
            continue  # builds for Windows are without TensorRT (build_info of 2.5.3 and 2.10.1)
        dll = dll_of(soname)
        picked = next(search.found(dll), None)
        if picked is not None and component == "cudnn":
            parts = map(dll_of, CUDNN_PARTS.get(dll.partition("64_")[2].partition(".")[0], ()))
            picked = replace(picked, parts_missing=tuple(p for p in parts if next(search.found(p), None) is None))
        copies = tuple(c for c in search.copies(component) if picked is None or c.path != picked.path)
        how = ntpath.dirname(picked.path) if picked is not None else ""
        found.append(Library(dll, component, component in NEEDED, picked, how, copies, WINDOWS_CALLER))
    return Libraries(tuple(found), search.folders, "target.json")


def _must_be_cuda(tensorflow: TensorFlow, platform: Optional[Platform]) -> None:
    if tensorflow.cuda_build is False:
        raise NotApplicable(_("this TensorFlow is built without CUDA"))
    if tensorflow.cuda_build is None:
        raise Unavailable(_("it is not known whether this TensorFlow is built with CUDA"))
    if platform is not None and platform.system not in ("linux", "windows"):
        raise Unavailable(_("what the loader of {system} would find is not computed").format(system=platform.system))
    if not tensorflow.location:
        raise Unavailable(_("where TensorFlow is installed is not known"))


def _caller(host: Host, answer: Mapping[str, Any], tensorflow: TensorFlow) -> Loaded:
    """The object that calls dlopen. The one that needs it matters only where it has an RPATH instead of a RUNPATH."""
    objects = mapping(mapping(answer.get("tensorflow")).get("objects"))
    path = next((text(objects[name]) for name in CALLERS if name in objects), "")
    elf = host.elf(path) if path else None
    if elf is None or elf.problem:
        raise Unavailable(
            _("{folder} holds no {name} that could be read").format(folder=tensorflow.location, name=CALLERS[0])
        )
    return Loaded(path, elf, None if elf.runpath else _object(host, text(objects.get(CALLERS[2]))))


def _tensorrt_caller(host: Host, answer: Mapping[str, Any], tensorflow: TensorFlow) -> Optional[Loaded]:
    """What opens TensorRT. None: it is not there to be looked at, as in a recording by an older tfdoctor."""
    objects = mapping(mapping(answer.get("tensorflow")).get("objects"))
    names = (name for versions, name in TENSORRT_CALLERS.items() if fits(tensorflow.version, versions))
    return next((_object(host, text(objects.get(name))) for name in names), None)


def _object(host: Host, path: str) -> Optional[Loaded]:
    elf = host.elf(path) if path else None
    return None if elf is None or elf.problem else Loaded(path, elf)


def _loader(host: Host, machine: str, bits: int, cpu: Optional[Cpu], executable: str, here: str = "") -> Loader:
    """The loader of a Python process. Its executable matters: conda's has an RPATH to the environment's own lib folder."""
    return Loader(
        host,
        machine,
        bits,
        library_path=host.env().get(LD_LIBRARY_PATH, ""),
        cache=parse_cache(host.read_bytes("/etc/ld.so.cache") or b""),
        hwcaps=usable_hwcaps(cpu.flags) if cpu is not None else (),
        program=if_told(lambda: _object(host, host.realpath(executable))) if executable else None,
        here=here,
    )


def _preload(host: Host, loader: Loader, caller: Loaded) -> None:
    """LD_PRELOAD: what it names is in the process before anything is opened."""
    nobody = Loaded("", Elf(""))
    for name in re.split(r"[ :]+", host.env().get("LD_PRELOAD", "")):
        hit = loader.find(name, nobody) if name else None
        if hit is not None and not hit.elf.problem:
            loader.put(Loaded(hit.path, hit.elf, by="LD_PRELOAD"))


def _conda_prefix(answer: Mapping[str, Any]) -> str:
    python = mapping(answer.get("python"))
    return text(python.get("prefix")) if python.get("kind") == "conda" else ""


def _wanted(answer: Mapping[str, Any], tensorflow: TensorFlow, tables: Tables) -> Iterator[tuple[str, str]]:
    """(component, soname) in the order in which TensorFlow opens them: from the wheel's own header, else from the table."""
    row = tables.release(tensorflow.version) if tensorflow.in_table else None
    tabled = dict(row.sonames) if row is not None and row.version == tensorflow.version else {}
    names = {
        **tabled,
        **_configured(text(mapping(mapping(answer.get("tensorflow")).get("headers")).get("cuda_config.h"))),
    }
    if (row is not None and row.nccl_linkage == "wheel") or tables.newer_than_table(tensorflow.version):
        names.setdefault("nccl", "libnccl.so.2")
    if not any(component in names for component in NEEDED):
        raise Unavailable(
            _("which CUDA libraries TensorFlow {version} opens is not known").format(version=tensorflow.version)
        )
    for component in (*NEEDED, *OPTIONAL):
        if component in names and (component != "curand" or fits(tensorflow.version, CURAND_NEEDED)):
            yield component, names[component]


def _configured(header: str) -> dict[str, str]:
    """Component -> soname, as cuda_config.h in the wheel states the versions: "11.0", for Windows "64_110"."""
    defines = dict(re.findall(r'^#define\s+(TF_\w+)\s+"((?:64_)?[0-9.]+)"', header, re.M))
    found = {component: library_name(component, defines[name]) for name, component in CONFIG.items() if name in defines}
    lib_version = defines.get("TF_CUDA_LIB_VERSION")
    for component in ("cublas", "cufft", "curand", "cusolver", "cusparse") if lib_version else ():
        found.setdefault(component, library_name(component, lib_version or ""))
    cuda = defines.get("TF_CUDA_VERSION", "")
    if "TF_CUDART_VERSION" not in defines and cuda.startswith("10."):
        found["cudart"] = f"libcudart.so.{cuda}"  # before CUDA 11 the runtime's soname was the toolkit's version
    if "cublas" in found and not cuda.startswith("10."):
        found["cublasLt"] = found["cublas"].replace("cublas", "cublasLt")
    return found


def library_name(component: str, version: str) -> str:
    """ "libcufft.so.10", or "cufft64_10.dll" for the version "64_10"."""
    return f"{component}{version}.dll" if version.startswith("64_") else f"lib{component}.so.{version}"


def _library(
    component: str,
    soname: str,
    opened: Opened,
    caller: Loaded,
    loader: Loader,
    files: LibraryFiles,
    copies: Sequence[LibraryFile],
) -> Library:
    hit = opened.hit
    picked = files.describe(hit.path, hit.elf, opened.missing) if hit is not None else None
    if picked is not None and hit is not None and component == "cudnn":
        picked = with_parts(picked, hit, soname, loader)
    others = [c for c in copies if hit is None or not _same_file(c, hit.path, hit.elf.real)]
    order = loader.search_path(caller)
    ranks = {folder: i for i, folder in enumerate(order)}
    others.sort(key=lambda c: (c.soname != soname, ranks.get(posixpath.dirname(c.path), len(order))))
    return Library(
        soname=soname,
        component=component,
        needed=component in NEEDED,
        picked=picked,
        how=hit.how if hit is not None else "",
        copies=tuple(others),
        caller=caller.name,
    )


def _same_file(copy: LibraryFile, path: str, real: str) -> bool:
    return copy.path in (path, real)


@probe
def driver_library(
    host: Host, platform: Optional[Platform], cpu: Optional[Cpu], distributions: Optional[Distributions]
) -> DriverLibrary:
    """libcuda.so.1: the driver's half of CUDA. It comes with the driver, never with a toolkit or a wheel."""
    if platform is not None and platform.system == "windows":
        copy = driver_copy(host.target_answer(), LibraryFiles(host, distributions))
        return DriverLibrary(copy, ntpath.dirname(copy.path), (), "target.json")
    if platform is not None and platform.system != "linux":
        raise NotApplicable(_("no CUDA driver for {system}").format(system=platform.system))
    machine = MACHINES.get(platform.machine if platform is not None else "x86_64", "EM_X86_64")
    loader = _loader(host, machine, 64, cpu, "")
    hit = loader.find("libcuda.so.1", Loaded("", Elf("")))
    files = LibraryFiles(host, distributions)
    picked = files.describe(hit.path, hit.elf) if hit is not None else None
    seen = {hit.elf.real: picked} if hit is not None else {}
    for path in _driver_files(host, loader):
        real = host.realpath(path)
        if real not in seen:
            seen[real] = files.describe(path, Elf(real, soname="libcuda.so.1"))
    others = tuple(entry for real, entry in seen.items() if entry is not None and entry is not picked)
    source = hit.how if hit is not None else _("the loader's search path")
    return DriverLibrary(
        _driver_version(picked), hit.how if hit else "", tuple(filter(None, map(_driver_version, others))), source
    )


def _driver_files(host: Host, loader: Loader) -> Iterator[str]:
    for pattern in (*(posixpath.join(f, "libcuda.so*") for f in loader.library_path), *DRIVER_PLACES):
        try:
            yield from (p for p in host.glob(pattern) if component_of(posixpath.basename(p)) == "cuda")
        except Unavailable:
            continue  # `others` are those that were seen


def _driver_version(found: Optional[LibraryFile]) -> Optional[LibraryFile]:
    """The driver's version is in the file's name; WSL's libcuda.so.1.1 and a stub's name tell none."""
    if found is None or re.match(r"[0-9]{3,}\.[0-9]", found.version):
        return found
    return LibraryFile(found.path, found.soname, "", found.origin, found.missing, found.problem)
