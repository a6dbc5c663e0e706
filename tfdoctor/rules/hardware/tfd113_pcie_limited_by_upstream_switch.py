"""TFD113 pcie-limited-by-upstream-switch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.pci import Link, Pci
from tfdoctor.rules._hints import index_at, name_at
from tfdoctor.tables import Tables


@rule("TFD113", Severity.INFO)
def pcie_limited_by_upstream_switch(
    machine: GpuMachine, pci: Pci, gpus: Optional[Gpus], tables: Tables
) -> Iterator[Diagnosis]:
    """A PCIe switch above the GPU has a slower link to the processor than the GPU has to the switch.

    ## What it is
    In servers GPUs sit behind PCIe switches. When the switch's own link is of an older generation or narrower, copies to the host go at
    its rate, while GPUs below the same switch talk at full rate. That is how the machine was built; NVLink is not concerned.

    ## How it shows
    - `… Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x16 link at 0000:01:00.0 (capable of …)` in the kernel log
      at boot

    ## How to be sure
    `lspci -tv` and the `LnkCap` of each bridge from the GPU upwards: the named one is the slowest by its own capability, and runs at
    it. A bridge below its own capability is another matter.

    ## What to do
    - Nothing. Keep inputs on the GPU's own NUMA node, and overlap copies with work (`prefetch`).
    - Everywhere else (desktops, WSL2, cloud machines): does not arise or cannot be changed.

    ## References
    - https://github.com/stas00/ml-engineering/blob/master/compute/accelerator/nvidia/debug.md
    - https://docs.kernel.org/PCI/sysfs-pci.html
    """
    for device in pci.nvidia_gpus:
        if device.link is None or len(device.upstream) < 2:
            continue
        own = [rate for rate in (_capability(device.link, tables), _capability(device.upstream[0], tables)) if rate]
        above = [rate for rate in (_capability(link, tables) for link in device.upstream[1:]) if rate]
        if len(own) < 2 or not above or min(above) >= min(own):
            continue
        message = _(
            "{gpu} could copy at {own:.0f} GB/s in each direction, and a PCIe switch above it allows {above:.0f} GB/s."
        ).format(gpu=name_at(gpus, device.address), own=min(own), above=min(above))
        evidence = (Evidence(_("links above {bus}").format(bus=device.address), pci.source),)
        yield Diagnosis(message, evidence, gpus=index_at(gpus, device.address))


def _capability(link: Link, tables: Tables) -> Optional[float]:
    """What a link can do, GB/s in one direction; None where it does not tell."""
    row = tables.pcie(link.max_generation) if link.max_generation else None
    return row.gbs(link.max_width) if row and link.max_width else None
