"""Is there an NVIDIA GPU at all? The fact that GPU rules name so that they rest where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class GpuMachine:
    """There is an NVIDIA GPU. `evidence`: what says so ("0000:01:00.0 on the PCI bus", "/dev/dxg", "NVML lists 2").

    The probe raises NotApplicable("no NVIDIA GPU on this machine") where the bus was seen to have none, and Unavailable
    where nobody could look. `count` is None where only the presence is known."""

    evidence: str
    count: Optional[int]
    source: str
