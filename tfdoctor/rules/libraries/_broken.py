"""Libraries that the loader finds but cannot load, because one that they need is not found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from tfdoctor.probes.libraries import Libraries, Library, LibraryFile
from tfdoctor.rules.libraries._which import soname_major


@dataclass(frozen=True)
class Broken:
    """A needed library, the copy that would be taken, and what that copy lacks."""

    library: Library
    picked: LibraryFile
    lacks: tuple[str, ...]


def broken(libraries: Libraries) -> tuple[Broken, ...]:
    """Needed libraries with an unresolved dependency.

    A dependency that TensorFlow itself opens counts as found: the loader takes an object of that soname which is
    already in the process.
    """
    opened = {entry.soname for entry in libraries.libraries if entry.picked is not None}
    out = []
    for entry in libraries.libraries:
        if entry.needed and entry.picked is not None:
            lacks = tuple(name for name in entry.picked.missing if name not in opened)
            if lacks:
                out.append(Broken(entry, entry.picked, lacks))
    return tuple(out)


#: Libraries whose soname carries the CUDA major version in every release of CUDA from 11 on.
_CARRY_MAJOR = ("libcudart.so.", "libcublas.so.", "libcublasLt.so.", "libnvJitLink.so.", "libcusparse.so.")


def foreign(lacks: tuple[str, ...], wanted: Optional[int]) -> bool:
    """Whether a missing dependency's name carries another CUDA major than `wanted`."""
    majors = {soname_major(name) for name in lacks if name.startswith(_CARRY_MAJOR)}
    return wanted is not None and bool(majors - {wanted, None})
