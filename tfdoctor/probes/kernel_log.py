"""The kernel log, where it can be read: Xid and SXid lines and the few others that name a cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Xid:
    """One `NVRM: Xid` line. `bus` is "0000:3b:00" as printed, `pid` None and `process` "" where not named."""

    code: int
    bus: str
    pid: Optional[int]
    process: str
    text: str


@dataclass(frozen=True)
class SXid:
    """One `nvidia-nvswitch…: SXid` line. `fatal` as the line says."""

    code: int
    switch: str
    fatal: bool
    text: str


@dataclass(frozen=True)
class KernelLog:
    """What the log holds since boot. `lines` are those that name a cause, by kind:
    "key-rejected" (Secure Boot), "lockdown", "api-mismatch", "nouveau", "resume" (from suspend), "bar" (BAR not mapped),
    "fallen-off-bus", "pcie-limited" (bandwidth limited by the link at…), "aer", "rm-init-failed", "uvm", "oom"."""

    xids: tuple[Xid, ...]
    sxids: tuple[SXid, ...]
    lines: tuple[tuple[str, str], ...]
    source: str

    def of(self, kind: str) -> tuple[str, ...]:
        """The lines of one kind."""
        return tuple(text for k, text in self.lines if k == kind)
