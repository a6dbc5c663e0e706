"""What a library file is: where it comes from, its version, and the copies that lie on the machine."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

from tfdoctor.elf import Elf
from tfdoctor.host import Host
from tfdoctor.model import Unavailable
from tfdoctor.probes.interpreter import Distributions

# Where copies are looked for beside the loader's own folders and those that the target interpreter named.
FOLDERS = (
    "/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib", "/usr/local/cuda*/extras/CUPTI/lib64", "/opt/cuda/lib64", "/opt/cuda*/targets/*/lib",
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/local/lib", "/usr/lib/cuda*/lib64",
)  # fmt: skip
NAMES = ("libcu*.so.*", "libn[cv]*.so.*")
ORIGINS = (
    ("stub", r"/stubs(/|$)"),
    ("wsl", r"^/usr/lib/wsl/"),
    ("torch", r"/torch/lib$"),
    ("jax", r"/(jaxlib|jax_cuda\w*|jax_plugins)(/|$)"),
    ("pip", r"/(site|dist)-packages/(nvidia|tensorrt\w*)(/|$)"),
    ("compat", r"/cuda[^/]*/compat(/|$)"),
    ("toolkit", r"^/(usr/local|opt|usr/lib)/cuda[^/]*(/|$)"),
    ("system", r"^/(usr/)?lib(32|64)?(/|$)"),
)
#: Component -> what the distribution of NVIDIA's wheel is called between "nvidia-" and "-cu12".
WHEELS = {
    "cudart": "cuda-runtime",
    "cublasLt": "cublas",
    "cupti": "cuda-cupti",
    "nvrtc": "cuda-nvrtc",
    "nvJitLink": "nvjitlink",
}
CUDNN_HEADERS = (
    "../include/cudnn_version.h",
    "../include/cudnn.h",
    "/usr/include/cudnn_version.h",
    "/usr/include/x86_64-linux-gnu/cudnn_version_v{major}.h",
)
HEADER_VERSION = re.compile(r"^#define\s+CUDNN_(MAJOR|MINOR|PATCHLEVEL)\s+(\d+)", re.M)


@dataclass(frozen=True)
class LibraryFile:
    """A copy of a library. `version` as far as the file or its package tells ("" unknown). `origin`: "pip", "conda",
    "toolkit", "system", "torch", "jax", "compat", "stub", "wsl", "image", "other". `missing` are the names of its own
    dependencies that the loader would not find. `problem`: why the loader would refuse the file itself ("" fine).
    Of a library that opens parts of itself later (cuDNN): `parts_missing` are those that it would not find, `parts_broken`
    those that cannot be loaded ("NAME: why"), `parts_other` those of another version ("NAME: version")."""

    path: str
    soname: str
    version: str
    origin: str
    missing: tuple[str, ...] = ()
    problem: str = ""
    parts_missing: tuple[str, ...] = ()
    parts_broken: tuple[str, ...] = ()
    parts_other: tuple[str, ...] = ()


def origin_of(path: str, conda: str = "") -> str:
    """Where a file comes from, by its folder. `conda`: the prefix of the target when it is a conda environment."""
    folder = posixpath.dirname(path)
    found = next((name for name, form in ORIGINS if re.search(form, folder)), "")
    if found in ("", "system") and (conda and path.startswith(conda.rstrip("/") + "/")):
        return "conda"
    return found or (
        "conda" if re.search(r"/(ana|mini|mamba|micromamba|mini)?(conda|forge)[^/]*/", path, re.I) else "other"
    )


def component_of(name: str) -> str:
    """ "cudnn" of "libcudnn.so.9"; "" for what is no such name (the parts of cuDNN have names of their own)."""
    found = re.fullmatch(r"lib(\w+)\.so(?:\.[0-9.]+)?", name)
    return found.group(1) if found else ""


def soname_major(soname: str) -> str:
    """ "9" of "libcudnn.so.9", "" without one."""
    found = re.search(r"\.so\.(\d+)", soname)
    return found.group(1) if found else ""


class LibraryFiles:
    """Names the copies of libraries that lie on one machine, and what is known of each."""

    def __init__(self, host: Host, distributions: Optional[Distributions], conda: str = "") -> None:
        self._host, self._distributions, self._conda = host, distributions, conda

    def describe(self, path: str, elf: Elf, missing: Iterable[str] = ()) -> LibraryFile:
        """What is known of a file whose ELF summary was read."""
        soname = elf.soname or posixpath.basename(path)
        version = self.version(path, elf.real, soname, elf.stated)
        return LibraryFile(path, soname, version, origin_of(path, self._conda), tuple(missing), elf.problem)

    def version(self, path: str, real: str, soname: str, stated: str = "") -> str:
        """From the wheel that brought it, its full file name, what it states inside, or cuDNN's header beside it."""
        return (
            self._wheel_version(path, soname)
            or name_version(real, soname)
            or stated
            or self._header_version(path, soname)
        )

    def _wheel_version(self, path: str, soname: str) -> str:
        found = re.search(r"^(.*)/(?:nvidia/([^/]+)/(?:lib|bin)|tensorrt\w*)/[^/]+$", path)
        if found is None or self._distributions is None:
            return ""
        site, folder = found.groups()
        component = component_of(soname)
        form = re.compile(r"(nvidia-)?tensorrt(-cu\d+)?(-libs)?")
        if folder is not None:
            own = (
                WHEELS.get(component, component.lower()) if re.fullmatch(r"cu\d+", folder) else folder.replace("_", "-")
            )
            form = re.compile(rf"nvidia-{re.escape(own)}(-cu\d+)?")
        wheels = [d for name, d in self._distributions.by_name.items() if form.fullmatch(name)]
        wheels = [d for d in wheels if d.location == site] or wheels
        # The wheels of two CUDA releases share a folder; each has the major of its library's soname.
        wheels = [d for d in wheels if d.version.partition(".")[0] == soname_major(soname)] or wheels
        return wheels[0].version if len({d.version for d in wheels}) == 1 else ""

    def _header_version(self, path: str, soname: str) -> str:
        if not soname.startswith("libcudnn.so"):
            return ""
        major = soname_major(soname)
        for header in CUDNN_HEADERS:
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), header.format(major=major)))
            try:
                parts = dict(HEADER_VERSION.findall(self._host.read(place) or ""))
            except Unavailable:
                continue
            if parts.get("MAJOR") == major:
                return ".".join(parts[p] for p in ("MAJOR", "MINOR", "PATCHLEVEL") if p in parts)
        return ""

    def copies(self, folders: Mapping[str, Sequence[str]], extra: Iterable[str] = ()) -> dict[str, list[LibraryFile]]:
        """Component -> every copy seen: in `folders` (with the names there), in `extra` folders and in the usual ones."""
        listed = [posixpath.join(folder, name) for folder, names in folders.items() for name in names]
        for folder in (*extra, *FOLDERS):
            listed += [path for form in NAMES for path in self._glob(posixpath.join(folder, form))]
        found: dict[str, dict[str, str]] = {}
        for path in dict.fromkeys(listed):
            component = component_of(posixpath.basename(path))
            if component and ".so." in path:
                by_real = found.setdefault(component, {})
                real = self._host.realpath(path)
                by_real[real] = min(
                    by_real.get(real, path), path, key=lambda p: (len(posixpath.basename(p)), listed.index(p))
                )
        return {
            component: [self._copy(path, real) for real, path in by_real.items()]
            for component, by_real in found.items()
        }

    def _copy(self, path: str, real: str) -> LibraryFile:
        soname = posixpath.basename(path)
        return LibraryFile(path, soname, self.version(path, real, soname), origin_of(path, self._conda))

    def _glob(self, pattern: str) -> Iterator[str]:
        try:
            yield from self._host.glob(pattern)
        except Unavailable:
            return  # `copies` are those that were seen


def name_version(real: str, soname: str) -> str:
    """ "9.10.2" of "libcudnn.so.9.10.2"; "" where the file is called by its soname."""
    name = posixpath.basename(real)
    found = re.search(r"\.so\.([0-9]+(?:\.[0-9]+)+)$", name)
    return found.group(1) if found and name != soname else ""
