"""TensorFlow as installed in the target, read without importing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class TensorFlowPackages:
    """Every distribution that owns the folder tensorflow/: (normalized name, version). Empty: none installed.

    `folder`: a folder tensorflow/ lies in site-packages although none (or another) claims it. `shadow`: a file or folder named
    tensorflow that comes before site-packages on sys.path ("" none)."""

    installed: tuple[tuple[str, str], ...]
    folder: str
    shadow: str
    source: str


@dataclass(frozen=True)
class TensorFlow:
    """The TensorFlow that `import tensorflow` would find. NotApplicable when none is installed.

    `distribution` normalized ("tensorflow", "tensorflow-cpu", "tensorflow-rocm"…), `version` as printed, `location` its folder ("" unknown).
    `cuda_build` None: cannot tell. `cuda` and `cudnn` are the versions it was built for ("12.5.1", "9" …; "" unknown or none),
    `nccl` likewise. `compute_capabilities` as built in: ("sm_60", "compute_90"); empty: unknown. `rocm_build` likewise.
    `ptx_isa`: PTX version in the build ("8.5", "" unknown). `source` names where the build's facts come from: the wheel itself or the table.
    `in_table`: the compatibility tables know this release."""

    distribution: str
    version: str
    location: str
    cuda_build: Optional[bool]
    rocm_build: Optional[bool]
    cuda: str
    cudnn: str
    nccl: str
    compute_capabilities: tuple[str, ...]
    ptx_isa: str
    in_table: bool
    source: str
