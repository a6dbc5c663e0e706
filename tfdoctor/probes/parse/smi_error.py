"""What nvidia-smi's exit code and text say of its failure. A recording has only the text."""

from __future__ import annotations

import re
from typing import Optional

from tfdoctor.probes.parse.values import MOST_TEXT

# Exit codes as nvidia-smi documents them; most are NVML's return codes.
CODES = {
    4: "no-permission",
    6: "no-devices",
    9: "driver-not-loaded",
    12: "library-missing",
    15: "gpu-lost",
    17: "blocked-by-os",
    18: "version-mismatch",
}

# The words that name each failure, as drivers 390 to 610 print them. First match wins.
TEXTS = (
    (r"couldn't find libnvidia-ml|libnvidia-ml\.so.*(?:not found|cannot open)", "library-missing"),
    (r"couldn't communicate with the NVIDIA driver|Driver Not Loaded", "driver-not-loaded"),
    (r"Driver/library version mismatch", "version-mismatch"),
    (r"GPU access blocked by the operating system", "blocked-by-os"),
    (r"Insufficient Permissions", "no-permission"),
    (r"No devices were found", "no-devices"),
    (r"GPU is lost", "gpu-lost"),
    (r"Failed to initialize NVML|Unable to determine the device handle|NVIDIA-SMI has failed", "unknown"),
)

TABLE = re.compile(r"NVIDIA-SMI\s+\d|NVSMI LOG|<nvidia_smi_log|^\s*Attached GPUs\s*:|^GPU \d+: ", re.M)


def problem_of(text: str, code: Optional[int]) -> str:
    """NvidiaSmi.problem for what nvidia-smi printed and how it ended (None: not known); "" when it worked."""
    text = text[:MOST_TEXT]  # an error is in the first lines; a program gone wild prints more
    reported = bool(TABLE.search(text))
    if reported and (code == 15 or _lost(text)):
        return "gpu-lost"
    if reported and code in (0, None, 14):  # 14: a corrupted infoROM, of which the report warns
        return ""
    named = next((problem for pattern, problem in TEXTS if re.search(pattern, text, re.I)), "")
    if named:
        return named
    if code in CODES:
        return CODES[code]
    return "garbled" if code in (0, None) else "unknown"


def _lost(text: str) -> bool:
    return re.search(r"\bGPU is lost\b", text, re.I) is not None


def words(text: str) -> str:
    """The error as printed, without identifiers, at most 400 characters."""
    return re.sub(r"\b(GPU|MIG)-[0-9a-f]{8}-[0-9a-f-]{20,}", r"\1-…", text.strip(), flags=re.I)[:400]


def library_version(text: str) -> str:
    """The version of libnvidia-ml that newer drivers name with a mismatch, else ""."""
    found = re.search(r"NVML library version:\s*([\d.]{3,20})", text)
    return found.group(1) if found else ""
