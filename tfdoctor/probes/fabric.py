"""NVSwitch machines: the fabric manager."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Fabric:
    """`switches`: NVSwitches on the PCI bus. `running`: the fabric manager process runs (None: could not look).
    `version`: of the installed fabric manager ("" none, None could not look). NotApplicable without NVSwitch."""

    switches: int
    running: Optional[bool]
    version: Optional[str]
    source: str
