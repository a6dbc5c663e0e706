"""Which DLL Windows would pick for each library that TensorFlow asks for: the folders of its search, in order.

TensorFlow up to 2.10, the last with CUDA on native Windows, calls LoadLibraryExW with a bare name and no
LOAD_LIBRARY_SEARCH flag, so Windows' standard order counts: the program's folder, the system's, the working directory,
PATH (tensorflow/core/platform/windows/load_library.cc; "Dynamic-link library search order" in Microsoft's documentation).
What a DLL needs itself is not read.
"""

from __future__ import annotations

import ntpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tfdoctor.i18n import _
from tfdoctor.loose import mapping, text, texts
from tfdoctor.model import Unavailable
from tfdoctor.probes.library_files import LibraryFile, LibraryFiles, origin_of

DRIVER = "nvcuda.dll"
_NAME = re.compile(r"(?P<component>[a-z]+?(?:Lt)?)64_(?P<digits>\d+)(?:_\d+)*\.dll", re.I)


def dll_of(soname: str) -> str:
    """ "cudart64_110.dll" of "libcudart.so.11.0": how TensorFlow names a library on Windows."""
    found = re.fullmatch(r"lib(\w+)\.so\.([0-9.]+)", soname)
    return f"{found[1]}64_{found[2].replace('.', '')}.dll" if found else soname


class WindowsSearch:
    """What the target interpreter said of the folders that Windows searches, and the names there."""

    def __init__(self, answer: Mapping[str, Any], files: LibraryFiles) -> None:
        self.folders = tuple(texts(answer.get("dll_search")))
        if not self.folders:
            raise Unavailable(_("which folders Windows searches for DLLs is not known"))
        self._names = {f: texts(names) for f, names in mapping(answer.get("libraries")).items()}
        self._files = files

    def found(self, name: str) -> Iterator[LibraryFile]:
        """The copies of `name` in the search's order; the first is the one that is loaded."""
        yield from self._in(self.folders, name)

    def copies(self, component: str) -> list[LibraryFile]:
        """Every copy of the library seen anywhere, under any version."""
        every = dict.fromkeys((*self.folders, *self._names))
        return [
            self._file(folder, name)
            for folder in every
            for name in self._names.get(folder, ())
            if (named := _NAME.fullmatch(name)) and named["component"].lower() == component.lower()
        ]

    def _in(self, folders: Iterable[str], name: str) -> Iterator[LibraryFile]:
        for folder in dict.fromkeys(folders):
            for own in self._names.get(folder, ()):
                if own.lower() == name.lower():
                    yield self._file(folder, own)

    def _file(self, folder: str, name: str) -> LibraryFile:
        path = ntpath.join(folder, name)
        forward = path.replace("\\", "/")
        return LibraryFile(path, name, self._files.version(forward, forward, name), windows_origin(path))


def windows_origin(path: str) -> str:
    """ "toolkit", "pip", "conda", "system" or "other", by the folder."""
    forward = ntpath.dirname(path).replace("\\", "/")
    forms: Sequence[tuple[str, str]] = (
        ("toolkit", r"/NVIDIA GPU Computing Toolkit/|/cuda[^/]*/"),
        ("conda", r"/Library/bin$"),
        ("system", r"/Windows(/System32)?$"),
    )
    known = origin_of(path.replace("\\", "/"))
    if known not in ("other", ""):
        return known
    return next((origin for origin, form in forms if re.search(form, f"{forward}", re.I)), "other")


def driver_copy(answer: Mapping[str, Any], files: LibraryFiles) -> LibraryFile:
    """nvcuda.dll as Windows would find it. Raises Unavailable where it is not seen: then the look itself is in doubt."""
    copy = next(WindowsSearch(answer, files).found(DRIVER), None)
    if copy is None:
        raise Unavailable(
            _("{name} was not seen in the folders that Windows searches ({executable})").format(
                name=DRIVER, executable=text(answer.get("executable"))
            )
        )
    return copy
