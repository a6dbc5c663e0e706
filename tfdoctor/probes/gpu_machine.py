"""Is there an NVIDIA GPU at all? The fact that GPU rules name so that they rest where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.looking import if_told
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.pci import Pci
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Jetson


@dataclass(frozen=True)
class GpuMachine:
    """There is an NVIDIA GPU. `evidence`: what says so ("0000:01:00.0 on the PCI bus", "/dev/dxg", "NVML lists 2").

    The probe raises NotApplicable("no NVIDIA GPU on this machine") where the bus was seen to have none, and Unavailable
    where nobody could look. `count` is None where only the presence is known."""

    evidence: str
    count: Optional[int]
    source: str


@probe
def look_for_gpu(
    host: Host,
    platform: Optional[Platform],
    pci: Optional[Pci],
    nodes: Optional[DeviceNodes],
    jetson: Optional[Jetson],
    gpus: Optional[Gpus],
) -> GpuMachine:
    """Anything that shows an NVIDIA GPU is enough; that there is none, only the bus itself can say."""
    if pci is not None and pci.nvidia_gpus:
        first = pci.nvidia_gpus[0].address
        return GpuMachine(_("{address} on the PCI bus").format(address=first), len(pci.nvidia_gpus), pci.source)
    if gpus is not None and len(gpus):
        return GpuMachine(_("the driver lists {count}").format(count=len(gpus)), len(gpus), gpus.source)
    folders = if_told(lambda: host.glob("/proc/driver/nvidia/gpus/*"))
    if folders:
        return GpuMachine("/proc/driver/nvidia/gpus", len(folders), "/proc/driver/nvidia/gpus")
    if nodes is not None and platform is not None and platform.wsl and nodes.get("/dev/dxg") is not None:
        return GpuMachine("/dev/dxg", None, "/dev")
    if jetson is not None:
        return GpuMachine(jetson.model or "Jetson", 1, jetson.source)
    if pci is None and nodes is not None and nodes.gpus:  # a sandbox hides the bus but passes the nodes
        return GpuMachine(nodes.gpus[0].path, len(nodes.gpus), "/dev")
    if platform is not None and (platform.system, platform.machine) == ("darwin", "aarch64"):
        raise NotApplicable(_("no NVIDIA GPU on this machine: it has an Apple processor"))
    if pci is None or (platform is not None and platform.wsl):
        raise Unavailable(_("neither the PCI bus nor the driver could be asked for a GPU"))
    raise NotApplicable(_("no NVIDIA GPU on this machine"))
