"""nvidia-smi: is it there, did it work, and what does its failure say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class NvidiaSmi:
    """`problem` is "" (it worked), "missing", "driver-not-loaded" (exit 9), "library-missing" (12), "version-mismatch" (18),
    "no-permission" (4), "no-devices" (6), "gpu-lost" (15), "blocked-by-os" (17), "timed-out", "garbled", "unknown".

    `code`: exit code, None where recorded without one. `version`: of nvidia-smi itself."""

    problem: str
    code: Optional[int]
    text: str
    version: str
    source: str
