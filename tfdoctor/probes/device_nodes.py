"""/dev/nvidia*: which nodes there are, their modes, and whether this user can open them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host, Stat
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable
from tfdoctor.probes.looking import if_told, text
from tfdoctor.probes.parse import group
from tfdoctor.probes.platform import Platform

OTHERS = ("/dev/dxg", "/dev/kfd")


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


@probe
def look_at_device_nodes(host: Host, platform: Optional[Platform]) -> DeviceNodes:
    """The nodes in /dev, and whether this user could open each of them."""
    if platform is not None and platform.system != "linux":
        raise NotApplicable(_("only Linux has device nodes"))
    groups: dict[int, str] = {}
    found = []
    for path in (*host.glob("/dev/nvidia*"), *OTHERS):
        stat = if_told(host.stat, path)
        if stat is None or stat.kind not in ("char", "file"):
            continue
        groups = groups or group.names(text(host, "/etc/group"))
        found.append(_node(host, path, stat, groups))
    return DeviceNodes(tuple(found), "/dev")


def _node(host: Host, path: str, stat: Stat, groups: dict[int, str]) -> DeviceNode:
    error = if_told(host.can_open, path)
    return DeviceNode(path, stat.mode, stat.uid, stat.gid, stat.group or groups.get(stat.gid, ""), error)
