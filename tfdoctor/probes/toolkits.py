"""CUDA toolkits on disk, and what XLA needs of one: ptxas and libdevice."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.loose import mapping, text, texts
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.probes.looking import if_told
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.tables import fits

# Where toolkits lie: NVIDIA's installers, Arch, Debian, the HPC SDK. Conda's and CUDA_HOME's come from the environment.
PLACES = ("/usr/local/cuda*", "/opt/cuda*", "/usr/lib/cuda*", "/opt/nvidia/hpc_sdk/Linux_*/*/cuda/[0-9]*")
VARIABLES = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")
HEADERS = ("include/cuda.h", "targets/x86_64-linux/include/cuda.h", "targets/sbsa-linux/include/cuda.h")
LIBDEVICE = "nvvm/libdevice/libdevice.10.bc"
# XLA's own default for --xla_gpu_cuda_data_dir, below the working directory.
DATA_DIR = "./cuda_sdk_lib"
# Releases whose code looks for NVIDIA's nvcc wheel: since the extra and-cuda exists (seen in the wheels of 2.15 to 2.21).
NVCC_WHEEL = ">=2.14.dev0"
# Releases that ask each ptxas for its version and pass over those below 11.8, and 12.3.103 (seen in the wheels of 2.17 to
# 2.21; XLA's cuda/subprocess_compilation.cc). Older ones take the first that there is.
CHOOSES_PTXAS = ">=2.17.dev0"
OLDEST_PTXAS, BAD_PTXAS = (11, 8), "12.3.103"
MOST_HEADER = 64 * 1024  # CUDA_VERSION is defined in the first 15 KB of cuda.h


@dataclass(frozen=True)
class Toolkit:
    """One toolkit. `version` is "12.4" or "12.4.1" as stated by `stated_by` (version.json, version.txt, nvcc, header, folder name)."""

    path: str
    version: str
    stated_by: str
    has_nvcc: bool


@dataclass(frozen=True)
class Toolkits:
    """Every toolkit found (/usr/local/cuda*, distribution, conda, CUDA_HOME…); `default` is where /usr/local/cuda points."""

    toolkits: tuple[Toolkit, ...]
    default: str
    source: str


@dataclass(frozen=True)
class XlaTools:
    """ptxas and libdevice as XLA would find them. `ptxas` is the path it would run ("" none), `ptxas_version` "12.9" or None
    when it could not be told. `libdevice` is the file it would read ("" none); `libdevice_elsewhere` other copies."""

    ptxas: str
    ptxas_version: Optional[str]
    libdevice: str
    libdevice_elsewhere: tuple[str, ...]
    source: str


@probe
def toolkits(host: Host) -> Toolkits:
    """Look at every usual place. A place that could not be looked at counts only when nothing was found anywhere."""
    found: dict[str, Toolkit] = {}
    reason: Optional[Unavailable] = None
    for place in _places(host):
        try:
            real = host.realpath(place)
            toolkit = None if real in found else _toolkit(host, place, real)
        except Unavailable as why:
            reason = reason or why
            continue
        if toolkit is not None:
            found[real] = toolkit
    if not found and reason is not None:
        raise reason
    default = host.realpath("/usr/local/cuda")
    return Toolkits(tuple(found.values()), default if default in found else "", ", ".join((*PLACES, *VARIABLES)))


def _places(host: Host) -> Iterator[str]:
    looked = [if_told(host.glob, pattern) for pattern in PLACES]
    globbed = [path for paths in looked for path in paths or ()]
    yield from sorted(globbed, key=lambda path: (path.count("/"), path))
    if not globbed and looked[0] is None:
        yield "/usr/local/cuda"  # raises where it could not be looked at
    environment = if_told(host.env) or {}
    yield from (environment[name].rstrip("/") for name in VARIABLES if environment.get(name, "").startswith("/"))
    yield from filter(None, ("/usr", _conda_prefix(if_told(host.target_answer) or {})))


def _conda_prefix(answer: Mapping[str, Any]) -> str:
    python = mapping(answer.get("python"))
    return text(python.get("prefix")) if python.get("kind") == "conda" else ""


def _toolkit(host: Host, place: str, real: str) -> Optional[Toolkit]:
    """The toolkit in a folder; None when there is none. A prefix shared with others (/usr, conda) needs an nvcc to be one."""
    nvcc = posixpath.join(place, "bin/nvcc")
    own = re.search(r"/cuda[^/]*(/[0-9.]+)?$", place) is not None
    has_nvcc = bool(if_told(host.is_file, nvcc)) if own else host.is_file(nvcc)
    if not has_nvcc and (not own or host.stat(place) is None):
        return None
    version, stated_by = _stated_version(host, place, real)
    if not version and not has_nvcc and not _has_libraries(host, place):
        return None
    return Toolkit(real if own else place, version, stated_by, has_nvcc)


def _has_libraries(host: Host, place: str) -> bool:
    return any(if_told(host.stat, posixpath.join(place, sub)) is not None for sub in ("lib64", "targets"))


def _stated_version(host: Host, place: str, real: str) -> tuple[str, str]:
    for name, read in (("version.json", parse_version_json), ("version.txt", parse_version_txt)):
        found = read(if_told(host.read, posixpath.join(place, name)) or "")
        if found:
            return found, name
    for header in HEADERS:
        data = if_told(host.read_bytes, posixpath.join(place, header), MOST_HEADER) or b""
        found = parse_cuda_header(data.decode("utf-8", "replace"))
        if found:
            return found, "header"
    named = re.search(r"cuda[-/]?([0-9]+\.[0-9]+(?:\.[0-9]+)?)$", real)
    return (named.group(1), "folder name") if named else ("", "")


def parse_version_json(source: str) -> str:
    """The toolkit's version of version.json (CUDA 11.1 on); a third part that is a date ("12.6.20241114") is left out."""
    try:
        stated: Any = json.loads(source)
    except (ValueError, RecursionError):
        return ""
    return _version(text(mapping(mapping(stated).get("cuda")).get("version")))


def parse_version_txt(source: str) -> str:
    """`CUDA Version 10.2.89` of version.txt (before CUDA 11.1); its third part is the build, not the update: left out."""
    found = re.search(r"CUDA Version (\d+\.\d+)", source)
    return found.group(1) if found else ""


def parse_cuda_header(source: str) -> str:
    """`#define CUDA_VERSION 12040` of cuda.h is 12.4."""
    found = re.search(r"^#define\s+CUDA_VERSION\s+(\d{4,6})\b", source, re.M)
    return f"{int(found.group(1)) // 1000}.{int(found.group(1)) % 1000 // 10}" if found else ""


def _version(stated: str) -> str:
    found = re.match(r"(\d+\.\d+)(?:\.(\d+))?", stated)
    if found is None:
        return ""
    return found.group(0) if found.group(2) and len(found.group(2)) < 3 else found.group(1)


# What XLA finds ---------------------------------------------------------------------------------------------------


@probe
def xla_tools(
    host: Host, tensorflow: TensorFlow, distributions: Optional[Distributions], toolkits: Optional[Toolkits]
) -> XlaTools:
    """The first ptxas and the first libdevice on XLA's way, which differs between the two."""
    if tensorflow.cuda_build is False:
        raise NotApplicable(_("this TensorFlow is built without CUDA"))
    answer = host.target_answer()
    environment = host.env()
    preferred = data_dir(environment.get("XLA_FLAGS", ""))
    folder = text(answer.get("cwd"))
    roots = list(_roots(answer, tensorflow))
    versions = _Versions(host, distributions, toolkits)
    on_path = [p for p in environment.get("PATH", "").split(":") if p]
    programs = _candidates(folder, [f"{preferred}/bin", *on_path, *(f"{root}/bin" for root in roots)], "ptxas")
    ptxas = _first_ptxas(host, programs, versions, tensorflow.version)
    bitcode = _candidates(folder, [preferred, *roots, "."], LIBDEVICE) + _candidates(
        folder, ["."], posixpath.basename(LIBDEVICE)
    )
    libdevice = next((path for path in bitcode if host.is_file(path)), "")
    return XlaTools(
        ptxas=ptxas,
        ptxas_version=versions.of(ptxas) if ptxas else None,
        libdevice=libdevice,
        libdevice_elsewhere=tuple(_elsewhere(host, answer, toolkits, libdevice)),
        source=_("XLA's search path: {folders}").format(folders=", ".join(dict.fromkeys([preferred, *roots]))),
    )


def data_dir(flags: str) -> str:
    """--xla_gpu_cuda_data_dir of XLA_FLAGS (the last one counts), else XLA's own default."""
    found = re.findall(r"--xla_gpu_cuda_data_dir=(\"[^\"]*\"|'[^']*'|\S*)", flags)
    return found[-1].strip("\"'") if found and found[-1].strip("\"'") else DATA_DIR


def _roots(answer: Mapping[str, Any], tensorflow: TensorFlow) -> Iterator[str]:
    """XLA's CandidateCudaRoots. /opt/cuda is among them in newer releases; the wheels do not tell since which."""
    header = text(mapping(mapping(answer.get("tensorflow")).get("headers")).get("cuda_config.h"))
    built = re.search(r'TF_CUDA_TOOLKIT_PATH\s+"([^"]+)"', header)
    yield from filter(None, (built.group(1) if built else "", "/usr/local/cuda", "/opt/cuda"))
    if tensorflow.location and fits(tensorflow.version, NVCC_WHEEL):
        yield posixpath.join(posixpath.dirname(tensorflow.location), "nvidia/cuda_nvcc")
    if conda := _conda_prefix(answer):
        yield conda


def _candidates(folder: str, roots: Iterable[str], name: str) -> list[str]:
    """root/name for each root; relative ones start at the working directory, as they do for the user's program."""
    paths = (posixpath.normpath(posixpath.join(folder, root, name)) for root in roots)
    return [path for path in dict.fromkeys(paths) if path.startswith("/")]


def _first_ptxas(host: Host, candidates: Iterable[str], versions: _Versions, tensorflow: str) -> str:
    """The ptxas that this release would take. One whose version is not known is taken as good."""
    for path in candidates:
        if not host.is_file(path):
            continue
        version = versions.of(path)
        if version is None or not fits(tensorflow, CHOOSES_PTXAS):
            return path
        major_minor = tuple(int(part) for part in version.split(".")[:2])
        if major_minor >= OLDEST_PTXAS and version != BAD_PTXAS:
            return path
    return ""


class _Versions:
    """The version of a ptxas, without running it: that of the wheel or the toolkit in whose folder it lies."""

    def __init__(self, host: Host, distributions: Optional[Distributions], toolkits: Optional[Toolkits]) -> None:
        self._host, self._distributions = host, distributions
        self._kits = toolkits.toolkits if toolkits is not None else ()

    def of(self, path: str) -> Optional[str]:
        """ "12.9.86" or "12.9"; None when nobody states it."""
        root = posixpath.dirname(posixpath.dirname(self._host.realpath(path)))
        if root.endswith("/nvidia/cuda_nvcc"):
            return self._of_wheel()
        return next((kit.version for kit in self._kits if self._host.realpath(kit.path) == root and kit.version), None)

    def _of_wheel(self) -> Optional[str]:
        found = self._distributions.by_name.items() if self._distributions is not None else ()
        versions = {d.version for name, d in found if re.fullmatch(r"nvidia-cuda-nvcc(-cu\d+)?", name)}
        stated = versions.pop() if len(versions) == 1 else ""
        return stated if re.match(r"\d+\.\d+", stated) else None


def _elsewhere(host: Host, answer: Mapping[str, Any], toolkits: Optional[Toolkits], taken: str) -> Iterator[str]:
    """Copies of libdevice that XLA does not look at: in toolkits and wheels."""
    kits = toolkits.toolkits if toolkits is not None else ()
    places = [
        *(posixpath.join(kit.path, LIBDEVICE) for kit in kits),
        *(t for t in texts(answer.get("tools")) if t.endswith(".bc")),
    ]
    taken = host.realpath(taken) if taken else ""
    for path in dict.fromkeys(places):
        if host.realpath(path) != taken and if_told(host.stat, path) is not None:
            yield path
