"""Which file the loader would pick for each library that this TensorFlow asks for: computed, not guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class LibraryFile:
    """A copy of a library. `version` as far as the file or its package tells ("" unknown). `origin`: "pip", "conda",
    "toolkit", "system", "torch", "jax", "compat", "stub", "wsl", "image", "other". `missing` are the names of its own
    dependencies that the loader would not find."""

    path: str
    soname: str
    version: str
    origin: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Library:
    """One library that TensorFlow opens. `component`: "cudart", "cublas", "cublasLt", "cufft", "curand", "cusolver", "cusparse",
    "cudnn", "cupti", "nccl", "nvjitlink", "tensorrt". `needed`: without it TensorFlow uses no GPU (False: only a feature is lost).

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
    """libcuda.so.1 as the loader would find it. `picked` None: it would find none. `others` are further copies."""

    picked: Optional[LibraryFile]
    how: str
    others: tuple[LibraryFile, ...]
    source: str
