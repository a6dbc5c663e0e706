"""/dev/nvidia*: which nodes there are, their modes, and whether this user can open them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class DeviceNode:
    """One node. `mode` are the permission bits. `error` is "" when this user can open it, the error's text when not,
    None when it was not tried."""

    path: str
    mode: int
    uid: int
    gid: int
    group: str
    error: Optional[str]


@dataclass(frozen=True)
class DeviceNodes:
    """Every /dev/nvidia* node, and /dev/dxg, /dev/kfd where there are."""

    nodes: tuple[DeviceNode, ...]
    source: str

    def get(self, path: str) -> Optional[DeviceNode]:
        """The node at `path`, or None when there is none."""
        return next((n for n in self.nodes if n.path == path), None)

    @property
    def gpus(self) -> tuple[DeviceNode, ...]:
        """/dev/nvidia0, /dev/nvidia1, …"""
        return tuple(n for n in self.nodes if n.path[len("/dev/nvidia") :].isdigit())
