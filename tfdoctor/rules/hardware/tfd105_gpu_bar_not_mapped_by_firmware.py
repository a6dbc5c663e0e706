"""TFD105 gpu-bar-not-mapped-by-firmware."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.pci import Pci
from tfdoctor.rules._hints import at, index_at


@rule("TFD105", Severity.ERROR)
def gpu_bar_not_mapped_by_firmware(
    machine: GpuMachine, pci: Optional[Pci], gpus: Optional[Gpus], log: Optional[KernelLog]
) -> Found:
    """The firmware gave the GPU no address range for its memory, so the driver cannot start it.

    ## What it is
    A GPU needs windows in the address space (BARs); compute cards need one of tens of GiB. The firmware places it above 4 GiB only
    if it is told to. Otherwise the window stays unassigned, and the driver gives up on the card.

    ## How it shows
    - nvidia-smi: `No devices were found`
    - `NVRM: This PCI I/O region assigned to your NVIDIA device is invalid: BAR1 is 0M`
    - `NVRM: RmInitAdapter failed! (0x22:0x56:…)` in the kernel log

    ## How to be sure
    `lspci -vv -s ADDRESS`: a `Region` without an address (`<unassigned>`, `[virtual]`, size missing). RmInitAdapter errors
    without that have other reasons: Blackwell needs the open kernel modules, for example.

    ## What to do
    - Firmware: switch on "Above 4G Decoding" (and "Resizable BAR"), switch off CSM, update it. Linux: then reboot.
    - Linux, without such a setting: `pci=realloc` on the kernel command line sometimes helps.
    - Virtual machines: a 64-bit MMIO window large enough (QEMU: `-global q35-pcihost.pci-hole64-size=…`; VMware:
      `pciPassthru.use64bitMMIO` and `pciPassthru.64bitMMIOSizeGB`).
    - Old boards cannot do it for cards with 24 GiB and more.

    ## References
    - https://docs.kernel.org/admin-guide/kernel-parameters.html
    - https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/
    """
    said = log.of("bar") if log else ()
    for device in pci.nvidia_gpus if pci else ():
        gpu = at(gpus, device.address)
        if device.dead or (gpu is not None and not gpu.lost):
            continue
        unassigned = bool(device.bars) and 0 in device.bars
        if not unassigned and not any(device.address in line.lower() for line in said):
            continue
        message = _("The firmware assigned no memory window to the GPU at {bus} ({bars}).").format(
            bus=device.address,
            bars=_("windows in MiB: {sizes}").format(sizes=", ".join(str(b // 1024**2) for b in device.bars))
            if device.bars
            else _("the kernel says so"),
        )
        evidence = [
            Evidence(_("a memory region of {bus} is unassigned").format(bus=device.address), pci.source if pci else "")
        ]
        if said and log is not None:
            evidence.append(Evidence(_("the kernel reports an invalid region"), log.source))
        fix = remedies.by_hand(
            _('Switch on "Above 4G Decoding" and "Resizable BAR" in the firmware, switch off CSM'), needs=("reboot",)
        )
        return Diagnosis(message, tuple(evidence), (fix,), gpus=index_at(gpus, device.address))
    if said and log is not None and gpus is not None and len(gpus) == 0:
        message = _("The firmware assigned no valid memory window to {gpu}, and the driver lists no GPU.").format(
            gpu=machine.evidence
        )
        return Diagnosis(message, (Evidence(_("the kernel reports an invalid region"), log.source),))
    return None
