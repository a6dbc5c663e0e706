"""Which root cause keeps a needed CUDA library from TensorFlow: decided once, so that the rules of this folder agree.

For each needed library that the loader would not find there is one cause. A library of which a copy lies somewhere is
a matter of search paths; one without any copy was never installed, or only for another CUDA release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Optional

from tfdoctor.model import Evidence
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.probes.libraries import Libraries, Library, LibraryFile
from tfdoctor.probes.surroundings import Container
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.probes.toolkits import Toolkits
from tfdoctor.tables import Tables, fits
from tfdoctor.tables.tf_rows import TfRelease

GENERIC = "cuda-library-missing"

#: The object that opens CUDA's libraries, in every release that was run (docs/reality.md).
OPENS_CUDA = "libtensorflow_framework.so.2"

#: The first release with the extra and-cuda (compat/tensorflow.json: `and_cuda` is null before).
FIRST_EXTRA = ">=2.14.dev0"


@dataclass(frozen=True)
class Fault:
    """One cause, the libraries that it keeps away, the copies that lie elsewhere, and the other CUDA majors seen."""

    cause: str
    libraries: tuple[Library, ...]
    copies: tuple[LibraryFile, ...] = ()
    majors: frozenset[int] = field(default_factory=frozenset)

    @property
    def names(self) -> str:
        """The missing sonames, for a message."""
        return ", ".join(entry.soname for entry in self.libraries)

    @property
    def folders(self) -> tuple[str, ...]:
        """Where the copies lie, in order, each once."""
        return tuple(dict.fromkeys(folder(copy.path) for copy in self.copies))

    @property
    def places(self) -> str:
        """The same for a message: folders of the wheels without the site-packages they are all in."""
        return ", ".join(dict.fromkeys(below_site(copy.path) or folder(copy.path) for copy in self.copies))

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """One observation for each copy; the source is the file."""
        return tuple(Evidence(f"{copy.soname} {copy.version}".strip(), copy.path) for copy in self.copies)


def folder(path: str) -> str:
    """The folder of a file, for paths of either system."""
    return re.split(r"[/\\][^/\\]*$", path)[0]


def cuda_major(version: str) -> Optional[int]:
    """12 of "12.5.1" and of build information from Windows ("64_112" is 11)."""
    windows = re.match(r"64_(\d+?)\d?$", version)
    plain = re.match(r"(\d+)", version)
    found = windows or plain
    return int(found.group(1)) if found else None


def soname_major(soname: str) -> Optional[int]:
    """The CUDA major that a cudart or cublas names: "libcudart.so.11.0" is 11, "cudart64_110.dll" is 11."""
    linux = re.search(r"\.so\.(\d+)", soname)
    if linux:
        return int(linux.group(1))
    windows = re.search(r"64_(\d+)\.dll$", soname.lower())
    if not windows:
        return None
    digits = windows.group(1)
    return int(digits[:2]) if len(digits) > 1 else int(digits)


def same(library: Library) -> tuple[LibraryFile, ...]:
    """Copies with the very soname that TensorFlow asks for, which the loader does not find."""
    return tuple(copy for copy in library.copies if copy.soname == library.soname)


def other(library: Library) -> tuple[LibraryFile, ...]:
    """Copies of the same library under another soname: another major, or another minor for cusolver."""
    return tuple(copy for copy in library.copies if copy.soname != library.soname)


@dataclass(frozen=True)
class Situation:
    """What the decision rests on. None: could not be looked at, or does not arise."""

    tensorflow: TensorFlow
    libraries: Libraries
    tables: Tables
    container: Optional[Container] = None
    toolkits: Optional[Toolkits] = None
    environment: Optional[Environment] = None
    distributions: Optional[Distributions] = None

    def fault(self, cause: str) -> Optional[Fault]:
        """The fault of that name, when it is one of those here."""
        return next((fault for fault in self.faults() if fault.cause == cause), None)

    def faults(self) -> tuple[Fault, ...]:
        """Every cause that keeps a needed library away, each with its libraries. Empty: all are found."""
        by_cause: dict[str, list[Library]] = {}
        for entry in self.libraries.missing:
            by_cause.setdefault(self._cause(entry), []).append(entry)
        return tuple(self._fault(cause, tuple(entries)) for cause, entries in by_cause.items())

    def _fault(self, cause: str, entries: tuple[Library, ...]) -> Fault:
        usable = [copy for entry in entries for copy in same(entry)]
        foreign = [copy for entry in entries for copy in other(entry)]
        return Fault(cause, entries, tuple(usable or foreign), self.other_majors)

    def _cause(self, entry: Library) -> str:
        if self._cuda_absent:  # then a copy of another library with the right soname belongs to another CUDA
            return self._no_cuda()
        return self._unreachable(entry) if same(entry) else self._absent(entry)

    # A copy is there --------------------------------------------------------------------------------------------

    def _unreachable(self, entry: Library) -> str:
        origins = {copy.origin for copy in same(entry)}
        if entry.soname.lower().endswith(".dll"):
            return "windows-dll-search-path" if self._on_path(same(entry)) else "library-path-system-cuda"
        if "pip" in origins:
            return "release-library-path-defect" if self._defect(entry) else "pip-nvidia-libs-not-on-path"
        if "conda" in origins:
            return "library-path-conda-env"
        if origins <= {"torch", "jax", "stub"}:  # another program's own copy: nobody should point TensorFlow at it
            return GENERIC
        only_cudnn = all(lib.component == "cudnn" for lib in self.libraries.missing)
        return "library-path-cudnn" if only_cudnn else "library-path-system-cuda"

    def _on_path(self, copies: Iterable[LibraryFile]) -> bool:
        path = self.environment.get("PATH") if self.environment else ""
        listed = {part.rstrip("\\/").lower() for part in path.split(";")}
        return any(folder(copy.path).lower() in listed for copy in copies)

    def _defect(self, entry: Library) -> bool:
        """Whether the release means to look into the wheels, but its caller leaves out this wheel's folder."""
        release = self.tables.release(self.tensorflow.version)
        if release is None or release.version != self.tensorflow.version:
            return False
        listed = searched(release, entry.caller)
        wheels = {below_site(copy.path) for copy in same(entry) if copy.origin == "pip"} - {""}
        return "nvidia/cuda_runtime/lib" in listed and bool(wheels) and not wheels & listed

    # No copy is there -------------------------------------------------------------------------------------------

    def _absent(self, entry: Library) -> str:
        if entry.component == "cusolver" and self._beside_runtime(other(entry)):
            return "cuda-minor-mismatch-soname"
        if entry.component == "cudnn" and self._old_cudnn_in_image(entry):
            return "docker-image-lacks-cudnn9"
        return GENERIC

    def _beside_runtime(self, copies: tuple[LibraryFile, ...]) -> bool:
        """Whether one of the copies lies in the folder of the cudart that the loader takes: the same toolkit."""
        runtime = self._deciding
        place = folder(runtime.picked.path) if runtime and runtime.picked else None
        return any(folder(copy.path) == place for copy in copies)

    def _old_cudnn_in_image(self, entry: Library) -> bool:
        image = self.container is not None and self.container.vendor == "tensorflow"
        return image and any(copy.soname.startswith("libcudnn.so.") for copy in other(entry))

    def _no_cuda(self) -> str:
        """No runtime library of the wanted CUDA major lies anywhere."""
        if self.other_majors:
            return "cuda-13-only" if min(self.other_majors) >= 13 else "cuda-major-mismatch"
        if self.from_conda:
            return GENERIC
        dll = any(entry.soname.lower().endswith(".dll") for entry in self.libraries.libraries)
        return "cuda-extra-not-installed" if not dll and self.has_extra else "cuda-toolkit-missing"

    @property
    def _telling(self) -> tuple[Library, ...]:
        """The libraries whose sonames tell the CUDA major, cudart first."""
        found = map(self.libraries.get, ("cudart", "cublas", "cublasLt"))
        return tuple(entry for entry in found if entry is not None and entry.needed)

    @property
    def _deciding(self) -> Optional[Library]:
        return next(iter(self._telling), None)

    @property
    def _cuda_absent(self) -> bool:
        """Not one of them is anywhere: a single wheel that is missing does not mean that CUDA of this major is."""
        return bool(self._telling) and all(entry.picked is None and not same(entry) for entry in self._telling)

    @property
    def other_majors(self) -> frozenset[int]:
        """CUDA majors on this machine other than the one that TensorFlow was built for."""
        runtime = self._deciding
        wanted = cuda_major(self.tensorflow.cuda) or (soname_major(runtime.soname) if runtime else None)
        if wanted is None:
            return frozenset()
        seen = {soname_major(copy.soname) for copy in (other(runtime) if runtime else ())}
        if not seen and self._cuda_absent:
            seen = self._majors_by_name()
        return frozenset(major for major in seen if major is not None and major != wanted)

    def _majors_by_name(self) -> set[Optional[int]]:
        return toolkit_majors(self.toolkits) | wheel_majors(self.distributions)

    @property
    def from_conda(self) -> bool:
        return from_conda(self.tensorflow, self.distributions)

    @property
    def has_extra(self) -> bool:
        """Whether this release can be installed as tensorflow[and-cuda]."""
        release = self.tables.release(self.tensorflow.version)
        official = self.tensorflow.distribution in ("tensorflow", "tf-nightly", "")
        known = release.and_cuda is not None if release else fits(self.tensorflow.version, FIRST_EXTRA)
        return official and known


def toolkit_majors(toolkits: Optional[Toolkits]) -> set[Optional[int]]:
    """The CUDA majors of the toolkits on disk."""
    return {cuda_major(toolkit.version) for toolkit in (toolkits.toolkits if toolkits else ())} - {None}


def wheel_majors(distributions: Optional[Distributions]) -> set[Optional[int]]:
    """The CUDA majors of the runtime wheels: nvidia-cuda-runtime-cu11, -cu12; from 13 on nvidia-cuda-runtime."""
    majors: set[Optional[int]] = set()
    for name, found in (distributions.by_name if distributions else {}).items():
        match = re.fullmatch(r"nvidia-cuda-runtime(?:-cu(\d+))?", name)
        if match:
            majors.add(int(match.group(1)) if match.group(1) else cuda_major(found.version))
    return majors


def from_conda(tensorflow: TensorFlow, distributions: Optional[Distributions]) -> bool:
    """TensorFlow itself came from conda, where other packages bring CUDA."""
    found = distributions.by_name.get(tensorflow.distribution) if distributions else None
    return found is not None and found.installer == "conda"


def searched(release: TfRelease, caller: str = "") -> frozenset[str]:
    """The wheels' folders that a release's object searches; of the one that opens CUDA's libraries, when not named."""
    dirs = release.runpath_dirs or {}
    name = re.split(r"[/\\]", caller)[-1]
    return frozenset(dirs.get(name) or dirs.get(OPENS_CUDA) or ())


def below_site(path: str) -> str:
    """`nvidia/cudnn/lib` of a path in a site-packages folder; "" when it is not one of a wheel."""
    match = re.search(r"(?:site|dist)-packages/(nvidia/[^/]+/lib|tensorrt\w*)/[^/]+$", path)
    return match.group(1) if match else ""
