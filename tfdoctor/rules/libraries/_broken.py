"""Libraries that the loader finds but cannot load, because one that they need is not found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from tfdoctor.probes.libraries import Libraries, Library, LibraryFile
from tfdoctor.rules.libraries._which import soname_major


@dataclass(frozen=True)
class Broken:
    """A needed library, the copy that would be taken, what that copy lacks, and what is wrong with the file itself."""

    library: Library
    picked: LibraryFile

    @property
    def lacks(self) -> tuple[str, ...]:
        """The dependencies that are not found, when the library is opened where TensorFlow opens it."""
        return self.picked.missing


def broken(libraries: Libraries) -> tuple[Broken, ...]:
    """Needed libraries that are found and would not load."""
    found = [(entry, entry.picked) for entry in libraries.libraries if entry.needed and entry.picked is not None]
    return tuple(Broken(entry, picked) for entry, picked in found if picked.missing or picked.problem)


#: Libraries whose soname carries the CUDA major version in every release of CUDA from 11 on.
_CARRY_MAJOR = ("libcudart.so.", "libcublas.so.", "libcublasLt.so.", "libnvJitLink.so.", "libcusparse.so.")


def foreign(lacks: tuple[str, ...], wanted: Optional[int]) -> bool:
    """Whether a missing dependency's name carries another CUDA major than `wanted`."""
    majors = {soname_major(name) for name in lacks if name.startswith(_CARRY_MAJOR)}
    return wanted is not None and bool(majors - {wanted, None})
