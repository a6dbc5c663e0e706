"""The rows of limits: what is expected of a healthy node or device, and the thresholds of rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from tfdoctor.tables.rows import Row


@dataclass(frozen=True)
class NodeBaseline(Row):
    """What an operator expects of a healthy node of one type; below it the node is taken out of service."""

    node: str
    gpus: int
    host_device_gbs: Optional[float]
    peer_gbs: Optional[float]
    allreduce_busbw_gbs: Optional[float]
    allreduce_message: Optional[str]


@dataclass(frozen=True)
class DeviceBaseline(Row):
    """What an operator's diagnostic expects of a GPU with one PCI device id (hexadecimal, as in lspci)."""

    pci_device_id: str
    gpu: str
    min_pcie_width: Optional[int]
    min_pcie_generation: Optional[int]
    min_memory_bandwidth_gbs: Optional[float]


@dataclass(frozen=True)
class Threshold(Row):
    """A limit used by a rule: its value, unit and why."""

    name: str
    value: float
    unit: str
    why: str

    @property
    def said(self) -> str:
        """The limit with its unit: "65 °C"."""
        return f"{self.value:g} {self.unit}"
