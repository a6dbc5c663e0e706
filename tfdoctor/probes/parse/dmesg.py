"""The kernel log: what NVIDIA's driver reports (Xid, SXid) and the few other lines that name a cause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

MOST = 200  # lines of one kind; a failing link repeats itself thousands of times

# What dmesg, dmesg -T, dmesg -x, syslog and journalctl put before the kernel's own words.
_PREFIX = re.compile(
    r"^(?:<\d+>)?"
    r"(?:[a-z]+ *:[a-z]+ *: )?"
    r"(?:(?:[A-Z][a-z]{2} +\d+ [\d:.]{8,15}|\d{4}-\d\d-\d\dT\S+) \S+ kernel(?:\[\d+\])?: )?"
    r"(?:\[[^\]]{1,40}\] ?)?"
    r"(?:\d{4}-\d\d-\d\dT\S+ )?"
)
_XID = re.compile(
    r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)(?: [^)]*)?\): ([0-9]{1,6}),?\s*"
    r"(?:pid=('?<?[\w ]+>?'?),\s*)?(?:name=([^,]+),\s*)?(.*)"
)
_SXID = re.compile(
    r"(nvidia-nvswitch\d+|nvidia-nvlink\w*): SXid \((?:PCI:)?[^)]*\): ([0-9]{1,6}), (Fatal|Non-fatal), ?(.*)", re.I
)
_KINDS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("key-rejected", r"Loading of (?:unsigned module|module with unavailable key) is rejected|Key was rejected by service|PKCS#7 signature not signed with a trusted key"),
        ("lockdown", r"Lockdown: .*(?:unsigned module|module loading)"),
        ("api-mismatch", r"NVRM: API mismatch|NVRM: this kernel module has the version|NVRM: \S+ kernel (?:module )?version \S+ does not match"),
        ("nouveau", r"^nouveau[ :]"),
        ("resume", r"^PM: (?:suspend exit|hibernation: hibernation exit|hibernation exit|resume from)|^ACPI:(?: PM:)? Waking up from system sleep state"),
        ("bar", r"NVRM: (?:BAR\d+ is 0M|This PCI I/O region assigned to your NVIDIA device is invalid)|: BAR \d+.*(?:no space|failed to assign|can't assign)"),
        ("fallen-off-bus", r"fallen off the bus"),
        ("pcie-limited", r"available PCIe bandwidth, limited by"),
        ("aer", r"\bAER:|PCIe Bus Error:"),
        ("rm-init-failed", r"RmInitAdapter failed|rm_init_adapter failed"),
        ("gpu-not-supported", r"requires use of the NVIDIA open kernel modules|installed in this system is not supported by|NVRM: nvidia\.ko because it does not include|x Legacy drivers"),
        ("uvm", r"nvidia-uvm: .*(?:[Ff]ail|[Ee]rror|unable|[Cc]ould not)|uvm_hmm"),
        ("oom", r"Out of memory: Kill|invoked oom-killer|oom-kill:"),
    )
)  # fmt: skip
# Further lines that a recording keeps, so that a later version of these patterns has something to read.
_NEIGHBOURS = re.compile(
    r"NVRM|nvidia|nvswitch|nouveau|\bPM: |DMAR|AMD-Vi|IOMMU|Lockdown|Secure ?[Bb]oot|amdgpu|kfd|blocked for more than"
)


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
class Log:
    """What one log holds; `lines` are (kind, the kernel's words)."""

    xids: tuple[Xid, ...]
    sxids: tuple[SXid, ...]
    lines: tuple[tuple[str, str], ...]


def message(line: str) -> str:
    """The kernel's own words, without time, level, host and facility."""
    return _PREFIX.sub("", line, count=1).rstrip()


def parse(text: str) -> Log:
    """Reads a log with any of the prefixes that `message` knows."""
    xids: list[Xid] = []
    sxids: list[SXid] = []
    lines: list[tuple[str, str]] = []
    counted: dict[str, int] = {}
    for line in map(message, text.splitlines()):
        xid, sxid = _xid(line), _sxid(line)
        if xid is not None:
            xids.append(xid)
        if sxid is not None:
            sxids.append(sxid)
        for kind in kinds(line):
            counted[kind] = counted.get(kind, 0) + 1
            if counted[kind] <= MOST:
                lines.append((kind, line))
    return Log(tuple(xids), tuple(sxids), tuple(lines))


def kinds(line: str) -> tuple[str, ...]:
    """The causes that a line names."""
    return tuple(kind for kind, pattern in _KINDS if pattern.search(line))


def _xid(line: str) -> Optional[Xid]:
    found = _XID.search(line) if "Xid" in line else None
    if found is None:
        return None
    bus, code, pid, name, rest = found.groups()
    number = pid.strip("'") if pid else ""
    process = "" if name is None or "<unknown>" in name else name.strip("' ")
    return Xid(
        int(code), bus.lower(), int(number) if re.fullmatch(r"[0-9]{1,10}", number) else None, process, rest.strip()
    )


def _sxid(line: str) -> Optional[SXid]:
    """`Severity …` and `Data {…}` lines continue the one before and are no event of their own."""
    found = _SXID.search(line) if "SXid" in line else None
    if found is None:
        return None
    switch, code, how, rest = found.groups()
    return SXid(int(code), switch, how.lower() == "fatal", rest.strip())


def relevant(text: str) -> str:
    """The lines of a log that a recording keeps."""
    kept = (line for line in text.splitlines() if _NEIGHBOURS.search(line) or kinds(message(line)))
    return "".join(f"{line}\n" for line in kept)
