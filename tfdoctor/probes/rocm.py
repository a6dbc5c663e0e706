"""AMD GPUs and ROCm, as far as TensorFlow's ROCm build needs them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rocm:
    """`version` of ROCm on disk ("" none), `gpus` (name, gfx target "gfx942" or "") and the amdgpu driver's version.
    NotApplicable without an AMD GPU."""

    version: str
    gpus: tuple[tuple[str, str], ...]
    driver: str
    libraries_found: bool
    source: str
