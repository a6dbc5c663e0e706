"""The parts of itself that libcudnn opens when an operation needs them: which are not found, damaged, or of another version."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Optional

from tfdoctor.loader import Hit, Loaded, Loader
from tfdoctor.model import Unavailable
from tfdoctor.probes.library_files import LibraryFile, name_version, soname_major

# For the operations that every network uses, by cuDNN's major version (names as in NVIDIA's packages).
CUDNN_PARTS: Mapping[str, tuple[str, ...]] = {
    "8": ("libcudnn_ops_infer.so.8", "libcudnn_cnn_infer.so.8"),
    "9": ("libcudnn_graph.so.9", "libcudnn_ops.so.9", "libcudnn_cnn.so.9"),
}
# For some operations: training (8), recurrent layers and attention (adv), and what libcudnn_graph opens for its own choice of
# kernels. Later releases of 9 have more (ext, engines_tensor_ir), which earlier ones lack.
CUDNN_MORE_PARTS: Mapping[str, tuple[str, ...]] = {
    "8": ("libcudnn_ops_train.so.8", "libcudnn_cnn_train.so.8", "libcudnn_adv_infer.so.8", "libcudnn_adv_train.so.8"),
    "9": (
        "libcudnn_adv.so.9",
        "libcudnn_heuristic.so.9",
        "libcudnn_engines_precompiled.so.9",
        "libcudnn_engines_runtime_compiled.so.9",
    ),
}


def with_parts(cudnn: LibraryFile, hit: Hit, soname: str, loader: Loader) -> LibraryFile:
    """What is known of `cudnn`, with the state of its parts. As it was where one of them could not be looked for."""
    major, caller = soname_major(soname), Loaded(hit.path, hit.elf)
    missing, broken, other = [], [], []
    try:
        for part in (*CUDNN_PARTS.get(major, ()), *CUDNN_MORE_PARTS.get(major, ())):
            found = next(_found(part, cudnn.version, caller, loader), None)
            version = name_version(found.elf.real, part) if found is not None else ""
            if found is None:
                missing.append(part)
            elif found.elf.problem:
                broken.append(f"{part}: {found.elf.problem}")
            elif _differ(cudnn.version, version):
                other.append(f"{part}: {version}")
    except Unavailable:
        return cudnn
    return replace(cudnn, parts_missing=tuple(missing), parts_broken=tuple(broken), parts_other=tuple(other))


def _found(part: str, version: str, caller: Loaded, loader: Loader) -> Iterator[Hit]:
    """Under the names that libcudnn tries: libcudnn_graph.so.9, .so.9.1.0, .so.9.1, .so (seen with 9.1.0 and 9.28.0)."""
    stem = posixpath.splitext(part)[0]
    numbers = version.split(".")
    longer = [f"{stem}.{'.'.join(numbers[:n])}" for n in (3, 2) if len(numbers) >= n]
    for name in (part, *longer, stem):
        hit: Optional[Hit] = loader.find(name, caller)
        if hit is not None:
            yield hit


def _differ(one: str, other: str) -> bool:
    """Two versions that are both known to the third number and are not the same."""
    short = [re.match(r"\d+\.\d+\.\d+", version) for version in (one, other)]
    return all(short) and len({found.group() for found in short if found}) == 2
