"""NVSwitch machines: the fabric manager."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.kernel_driver import InstalledDriver
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.pci import Pci
from tfdoctor.probes.surroundings import Container

PROGRAM = "nv-fabricmanager"
PID_FILES = ("/run/nvidia-fabricmanager/nv-fabricmanager.pid", "/var/run/nvidia-fabricmanager/nv-fabricmanager.pid")


@dataclass(frozen=True)
class Fabric:
    """`switches`: NVSwitches on the PCI bus. `running`: the fabric manager process runs (None: could not look).
    `version`: of the installed fabric manager ("" none, None could not look). NotApplicable without NVSwitch."""

    switches: int
    running: Optional[bool]
    version: Optional[str]
    source: str


@probe
def fabric(
    host: Host,
    pci: Optional[Pci],
    gpus: Optional[Gpus],
    installed: Optional[InstalledDriver],
    container: Optional[Container],
) -> Fabric:
    """Count the NVSwitches (a container or a virtual machine may see them only at the far end of its NVLinks) and look
    for the fabric manager."""
    if pci is None and gpus is None:
        raise Unavailable(_("neither the PCI bus nor the GPUs could be looked at"))
    on_bus = len(pci.nvswitches) if pci else 0
    switches = on_bus or len(_far_ends(gpus))
    if not switches:
        raise NotApplicable(_("this machine has no NVSwitch"))
    return Fabric(
        switches=switches,
        running=None if container is not None and container.kind else _running(host),
        version=installed.fabric_manager if installed else None,
        source=pci.source if pci and on_bus else gpus.source if gpus else "",
    )


def _far_ends(gpus: Optional[Gpus]) -> set[str]:
    links = [link for gpu in (gpus.gpus if gpus else ()) for link in gpu.nvlinks or ()]
    return {link.remote for link in links if link.remote_type == "switch" and link.remote}


def _running(host: Host) -> Optional[bool]:
    """Is there such a process? A recording holds no processes, only perhaps the file with its number."""
    if not host.live:
        return _has_pid_file(host)
    try:
        names = host.glob("/proc/[0-9]*/comm")
    except Unavailable:
        return None
    # The kernel cuts a process's name to 15 characters.
    return any(_command(host, path) == PROGRAM[:15] for path in names) if names else None


def _command(host: Host, path: str) -> str:
    try:
        return (host.read(path) or "").strip()
    except Unavailable:
        return ""


def _has_pid_file(host: Host) -> Optional[bool]:
    seen: list[bool] = []
    for path in PID_FILES:
        try:
            seen.append(host.is_file(path))
        except Unavailable:
            continue
    return any(seen) if seen else None
