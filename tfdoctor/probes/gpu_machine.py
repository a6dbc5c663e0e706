"""Is there an NVIDIA GPU at all? The fact that GPU rules name so that they rest where there is none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.looking import if_told
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Gpus, Nvml
from tfdoctor.probes.pci import Pci
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Jetson

# nvidia-smi's errors that are about one GPU give its address.
_NAMED = re.compile(r"\bGPU ([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])", re.I)

# What nvidia-smi says where it was installed for a GPU. Without a look at the bus that is the best there is.
SPEAKS_OF_DRIVER = ("driver-not-loaded", "version-mismatch", "no-devices", "no-permission", "unknown")


@dataclass(frozen=True)
class GpuMachine:
    """There is an NVIDIA GPU. `evidence`: what says so ("0000:01:00.0 on the PCI bus", "/dev/dxg", "the driver lists 2").

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
    nvml: Optional[Nvml],
    smi: Optional[NvidiaSmi],
    kernel: Optional[KernelDriver],
    log: Optional[KernelLog],
) -> GpuMachine:
    """Anything that shows an NVIDIA GPU is enough; that there is none, only the bus itself can say."""
    found = _listed(host, pci, gpus) or _other_kinds(platform, nodes, jetson) or _lost(nvml, smi, log)
    if found is None and pci is None:  # nobody could look at the bus: a sandbox, or a recording of few files
        found = _driven(nodes, smi, kernel, log)
    if found is not None:
        return found
    if platform is not None and (platform.system, platform.machine) == ("darwin", "aarch64"):
        raise NotApplicable(_("no NVIDIA GPU on this machine: it has an Apple processor"))
    if pci is None or (platform is not None and platform.wsl):
        raise Unavailable(_("neither the PCI bus nor the driver could be asked for a GPU"))
    raise NotApplicable(_("no NVIDIA GPU on this machine"))


def _listed(host: Host, pci: Optional[Pci], gpus: Optional[Gpus]) -> Optional[GpuMachine]:
    if pci is not None and pci.nvidia_gpus:
        first = pci.nvidia_gpus[0].address
        return GpuMachine(_("{address} on the PCI bus").format(address=first), len(pci.nvidia_gpus), pci.source)
    if gpus is not None and len(gpus):
        return GpuMachine(_("the driver lists {count}").format(count=len(gpus)), len(gpus), gpus.source)
    folders = if_told(host.glob, "/proc/driver/nvidia/gpus/*")
    if folders:
        return GpuMachine("/proc/driver/nvidia/gpus", len(folders), "/proc/driver/nvidia/gpus")
    return None


def _other_kinds(
    platform: Optional[Platform], nodes: Optional[DeviceNodes], jetson: Optional[Jetson]
) -> Optional[GpuMachine]:
    """GPUs that are on no PCI bus that could be seen: under WSL2, on a Jetson."""
    if nodes is not None and platform is not None and platform.wsl and nodes.get("/dev/dxg") is not None:
        return GpuMachine("/dev/dxg", None, "/dev")
    return GpuMachine(jetson.model or "Jetson", 1, jetson.source) if jetson is not None else None


def _lost(nvml: Optional[Nvml], smi: Optional[NvidiaSmi], log: Optional[KernelLog]) -> Optional[GpuMachine]:
    """A GPU that fell off the bus is on no list any more, and a GPU all the same."""
    fallen = log is not None and (log.of("fallen-off-bus") or any(x.code == 79 for x in log.xids))
    if log is not None and fallen:
        bus = next((x.bus for x in log.xids if x.code == 79), "")
        says = _("{bus} fell off the bus").format(bus=bus) if bus else _("a GPU fell off the bus")
        return GpuMachine(says, None, log.source)
    if nvml is not None and nvml.state == "gpu-lost":
        return GpuMachine(_("the driver has lost a GPU"), None, nvml.source)
    if smi is not None and smi.problem == "gpu-lost":
        return GpuMachine(_("the driver has lost a GPU"), None, smi.source)
    return None


def _driven(
    nodes: Optional[DeviceNodes], smi: Optional[NvidiaSmi], kernel: Optional[KernelDriver], log: Optional[KernelLog]
) -> Optional[GpuMachine]:
    """What only a driver that has a GPU makes or says: its module does not stay loaded without one."""
    if nodes is not None and nodes.gpus:
        return GpuMachine(nodes.gpus[0].path, len(nodes.gpus), "/dev")
    named = _NAMED.search(smi.text) if smi is not None else None
    if smi is not None and named:
        return GpuMachine(_("nvidia-smi names the GPU at {bus}").format(bus=named.group(1).lower()), None, smi.source)
    if smi is not None and smi.problem in SPEAKS_OF_DRIVER:
        return GpuMachine(_("nvidia-smi speaks of NVIDIA's driver"), None, smi.source)
    if log is not None and log.xids:
        return GpuMachine(_("NVIDIA's driver reports on {bus}").format(bus=log.xids[0].bus), None, log.source)
    if kernel is not None and kernel.loaded_version:
        says = _("NVIDIA's driver {version} is loaded").format(version=kernel.loaded_version)
        return GpuMachine(says, None, kernel.source)
    return None
