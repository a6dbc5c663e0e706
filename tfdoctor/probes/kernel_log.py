"""The kernel log, where it can be read: Xid and SXid lines and the few others that name a cause."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.parse import dmesg
from tfdoctor.probes.platform import Platform


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


@probe
def look_at_kernel_log(host: Host, platform: Optional[Platform]) -> KernelLog:
    """`dmesg`. Most systems show it only to root or to members of a group: then Unavailable, with what dmesg said."""
    if platform is not None and platform.system != "linux":
        raise NotApplicable(_("only Linux has this kernel log"))
    done = host.capture("dmesg.txt")
    if done is None:
        raise Unavailable(_("there is no program dmesg"))
    if done.code not in (0, None):
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Unavailable(_("the kernel log cannot be read ({why})").format(why=said[-1][:200] if said else done.code))
    log = dmesg.parse(done.stdout)
    return KernelLog(
        xids=tuple(Xid(**asdict(x)) for x in log.xids),
        sxids=tuple(SXid(**asdict(x)) for x in log.sxids),
        lines=log.lines,
        source="dmesg",
    )
