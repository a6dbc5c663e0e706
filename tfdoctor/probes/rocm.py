"""AMD GPUs and ROCm, as far as TensorFlow's ROCm build needs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.looking import first_text, globbed, if_told, text
from tfdoctor.probes.parse import kfd
from tfdoctor.probes.pci import Pci

NODES = "/sys/class/kfd/kfd/topology/nodes"
HIP = (
    "/opt/rocm/lib/libamdhip64.so*",
    "/opt/rocm-*/lib/libamdhip64.so*",
    "/usr/lib/x86_64-linux-gnu/libamdhip64.so*",
    "/usr/lib64/libamdhip64.so*",
)


@dataclass(frozen=True)
class Rocm:
    """`version` of ROCm on disk ("" none), `gpus` (name, gfx target "gfx942" or "") and the amdgpu driver's version.
    NotApplicable without an AMD GPU."""

    version: str
    gpus: tuple[tuple[str, str], ...]
    driver: str
    libraries_found: bool
    source: str


@probe
def look_at_rocm(host: Host, pci: Optional[Pci]) -> Rocm:
    """AMD's compute driver in sysfs, ROCm's own version file, and rocm-smi where sysfs tells nothing."""
    if pci is not None and not pci.amd_gpus:
        raise NotApplicable(_("no AMD GPU on this machine"))
    gpus = _gpus(host)
    driver = text(host, "/sys/module/amdgpu/version")
    source = NODES
    if not gpus:
        done = if_told(host.capture, "rocm-smi.json")
        gpus, told = kfd.smi(done.stdout) if done is not None else ((), "")
        driver, source = driver or told, "rocm-smi" if gpus else "PCI"
    if not gpus and pci is None:
        raise Unavailable(_("neither the PCI bus nor ROCm could be asked for an AMD GPU"))
    if not gpus and pci is not None:
        gpus = tuple((d.name, "") for d in pci.amd_gpus)
    libraries = if_told(globbed, host, HIP) or ()
    return Rocm(_version(host), gpus, driver, bool(libraries), source)


def _gpus(host: Host) -> tuple[tuple[str, str], ...]:
    """(name, gfx target) of each compute node that is a GPU."""
    found = []
    for path in if_told(host.glob, f"{NODES}/*/properties") or ():
        target = kfd.gfx(text(host, path))
        if target:
            found.append((text(host, path.replace("/properties", "/name")), target))
    return tuple(found)


def _version(host: Host) -> str:
    paths = ("/opt/rocm/.info/version", *(if_told(host.glob, "/opt/rocm-*/.info/version") or ()))
    return if_told(lambda: first_text(host, paths)[1].strip().partition("-")[0]) or ""
