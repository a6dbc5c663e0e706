"""What NCCL says in its own log (NCCL_DEBUG=INFO): which transports it chose, and which interface."""

from __future__ import annotations

import re
from collections.abc import Iterable

# "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", "… via SHM/direct/direct", "… [send] via NET/Socket/0".
_VIA = re.compile(r"NCCL INFO Channel .{0,80} via (P2P|SHM|NET/\w+|NET)\b")
# "NET/Socket : Using [0]eth0:10.0.0.4<0>", "NET/IB : Using [0]mlx5_0:1/RoCE …".
_USES = re.compile(r"NCCL INFO NET/\w+ ?: Using \[0\]([\w.-]{1,32}):")


def transports(log: str) -> frozenset[str]:
    """ "P2P", "SHM", "NET/Socket", "NET/IB"; empty when the log tells none."""
    return frozenset(found.group(1) for found in _VIA.finditer(log))


def interface(logs: Iterable[str]) -> str:
    """The first network interface or InfiniBand device that NCCL names, or ""."""
    return next((found.group(1) for log in logs if (found := _USES.search(log))), "")
