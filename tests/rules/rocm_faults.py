"""AMD's build of TensorFlow, for the tests of the ROCm rules."""

from __future__ import annotations

from typing import Any

import facts

from tfdoctor.probes.rocm import Rocm
from tfdoctor.probes.tensorflow import TensorFlow

NO_AMD = {Rocm: "no AMD GPU on this machine"}


def tensorflow(version: str = "2.14.0.600", **changes: Any) -> TensorFlow:
    """tensorflow-rocm for ROCm 6.0."""
    known = {"distribution": "tensorflow-rocm", "cuda_build": False, "rocm_build": True, "compute_capabilities": ()}
    return facts.tensorflow(version=version, **{**known, **changes})
