"""The kernel log, where it can be read: Xid and SXid lines and the few others that name a cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.looking import if_told
from tfdoctor.probes.parse import dmesg
from tfdoctor.probes.parse.dmesg import SXid, Xid
from tfdoctor.probes.pci import Pci
from tfdoctor.probes.platform import Platform


@dataclass(frozen=True)
class KernelLog:
    """What the log holds since boot. `lines` are those that name a cause, by kind:
    "key-rejected" (Secure Boot), "lockdown", "api-mismatch", "nouveau", "resume" (from suspend), "bar" (BAR not mapped),
    "fallen-off-bus", "pcie-limited" (bandwidth limited by the link at…), "aer", "rm-init-failed",
    "gpu-not-supported" (this driver is not one for the GPU), "uvm", "oom"."""

    xids: tuple[Xid, ...]
    sxids: tuple[SXid, ...]
    lines: tuple[tuple[str, str], ...]
    source: str

    def of(self, kind: str) -> tuple[str, ...]:
        """The lines of one kind."""
        return tuple(text for k, text in self.lines if k == kind)


@probe
def look_at_kernel_log(host: Host, platform: Optional[Platform], pci: Optional[Pci]) -> KernelLog:
    """`dmesg`, else the journal. Most systems show dmesg only to root, and the journal to members of a group as well."""
    if platform is not None and platform.system != "linux":
        raise NotApplicable(_("only Linux has this kernel log"))
    text, source = _log(host, worth_the_journal=pci is None or bool(pci.nvidia_gpus))
    log = dmesg.parse(text)
    return KernelLog(log.xids, log.sxids, log.lines, source)


def _log(host: Host, worth_the_journal: bool) -> tuple[str, str]:
    """(text, source). Raises Unavailable with what dmesg said."""
    done = host.capture("dmesg.txt")
    if done is not None and done.code in (0, None):
        return done.stdout, "dmesg"
    journal = if_told(host.capture, "journal.txt") if host.live and worth_the_journal else None
    if journal is not None and journal.code == 0 and journal.stdout.strip():  # empty: this user may not read it
        return journal.stdout, "journalctl -k -b"
    if done is None:
        raise Unavailable(_("there is no program dmesg"))
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    raise Unavailable(_("the kernel log cannot be read ({why})").format(why=said[-1][:200] if said else done.code))
