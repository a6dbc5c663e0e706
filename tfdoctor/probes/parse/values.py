"""Names, numbers and units that the NVIDIA formats share."""

from __future__ import annotations

import re
from typing import Optional

MIB = 2**20
MOST_TEXT = 2**20  # characters of a table, matrix or list that are read; those of 16 GPUs have some ten thousand

# nvmlClocksEventReason… and nvmlClocksThrottleReason…, nvidia-ml-py 13.615
REASON_BITS = {
    0x1: "idle",
    0x2: "app-clocks",
    0x4: "sw-power-cap",
    0x8: "hw-slowdown",
    0x10: "sync-boost",
    0x20: "sw-thermal",
    0x40: "hw-thermal",
    0x80: "hw-power-brake",
    0x100: "display",
    0x200: "board-limit",
    0x400: "reliability",
}

# NVML_NVLINK_VERSION_… -> generation: 1.0, 2.0, 2.2, 3.0, 3.1, 4.0, 5.0, 6.0
NVLINK_GENERATIONS = {1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 6: 4, 7: 5, 8: 6}

# NVML_P2P_STATUS_… -> what `nvidia-smi topo -p2p` prints
P2P = {0: "OK", 1: "CNS", 2: "GNS", 3: "TNS", 4: "DR", 5: "NS", 6: "U"}

# What nvidia-smi prints in place of a value.
NO_VALUE = frozenset(
    {
        "",
        "n/a",
        "[n/a]",
        "not supported",
        "[not supported]",
        "err!",
        "unknown",
        "unknown error",
        "[unknown error]",
        "insufficient permissions",
        "[insufficient permissions]",
        "requested functionality has been deprecated",
        "not available",
        "gpu is lost",
        "[gpu is lost]",
        "gpu requires reset",
        "[gpu requires reset]",
    }
)


def value_of(printed: Optional[str]) -> str:
    """The value without surrounding space; "" for N/A and its like."""
    text = (printed or "").strip()
    return "" if text.casefold() in NO_VALUE else text


def says_lost(printed: Optional[str]) -> bool:
    """Does nvidia-smi say in place of a value that the GPU is lost?"""
    return (printed or "").strip(" []").casefold() == "gpu is lost"


def integer(printed: Optional[str]) -> Optional[int]:
    """The whole number that a value starts with: "8192 MiB", "16x", "33 C", "P8" -> 8."""
    found = re.match(r"P?(-?\d{1,18})", value_of(printed), re.ASCII)
    return int(found.group(1)) if found else None


def decimal(printed: Optional[str]) -> Optional[float]:
    """The number that a value starts with: "67.03 W" -> 67.03."""
    found = re.match(r"-?\d{1,18}(\.\d{1,18})?", value_of(printed), re.ASCII)
    return float(found.group()) if found else None


def mebibytes(printed: Optional[str]) -> Optional[int]:
    """The bytes of "8192 MiB"."""
    number = integer(printed)
    return None if number is None else number * MIB


def yes_no(printed: Optional[str]) -> Optional[bool]:
    """Enabled, On, Yes, Active -> True; Disabled, Off, No, Not Active -> False; else None."""
    return {
        "enabled": True, "on": True, "yes": True, "active": True,
        "disabled": False, "off": False, "no": False, "not active": False,
    }.get(value_of(printed).casefold())  # fmt: skip


def bus_address(printed: Optional[str]) -> str:
    """00000000:3B:00.0 -> 0000:3b:00.0, as the kernel writes it; "" when it is no address."""
    found = re.fullmatch(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])", (printed or "").strip().lower())
    if not found:
        return ""
    return f"{int(found.group(1) or '0', 16):04x}:{found.group(2)}"


def mig_profile(name: str) -> str:
    """NVIDIA A100-SXM4-80GB MIG 1c.3g.40gb -> 1c.3g.40gb; "" when none is named."""
    found = re.search(r"\b(?:\d+c\.)?\d+g\.\d+gb\S*", name)
    return found.group() if found else ""


def version_of(printed: Optional[str]) -> str:
    """The version that a value starts with, as printed; "" when it starts with none."""
    found = re.match(r"\d{1,6}(\.\d{1,6}){1,3}\b", value_of(printed), re.ASCII)
    return found.group() if found else ""


def compute_mode(printed: Optional[str]) -> Optional[str]:
    """Exclusive_Process and E. Process -> "exclusive-process", and so on."""
    text = re.sub(r"[^a-z]+", "-", value_of(printed).casefold()).strip("-")
    known = {
        "default": "default", "prohibited": "prohibited", "exclusive-process": "exclusive-process",
        "e-process": "exclusive-process", "exclusive-thread": "exclusive-thread", "e-thread": "exclusive-thread",
    }  # fmt: skip
    return known.get(text)
