"""Whether NVIDIA's kernel driver is loaded although it does not come up: what separates TFD238 from TFD242."""

from __future__ import annotations

from typing import Optional

from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Nvml

#: States of NVML and problems of nvidia-smi that only a driver that is there brings about.
ANSWERS = ("version-mismatch", "no-permission", "no-devices", "gpu-lost", "blocked-by-os", "reset-required", "unknown")


def is_loaded(nvml: Optional[Nvml], smi: Optional[NvidiaSmi], kernel: Optional[KernelDriver]) -> bool:
    """Seen in the kernel; where nobody could look there, what NVML or nvidia-smi says of its failure."""
    if kernel is not None:
        return kernel.loaded_version != "" or "nvidia" in kernel.modules
    said = nvml.state if nvml is not None else smi.problem if smi is not None else ""
    return said in ANSWERS
