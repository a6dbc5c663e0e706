"""TFD104 gpu-powered-off-optimus."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import Nvml
from tfdoctor.probes.pci import Pci
from tfdoctor.probes.platform import Platform
from tfdoctor.rules._hints import powered_off, works


@rule("TFD104", Severity.ERROR, blocks=True)
def gpu_powered_off_optimus(
    machine: GpuMachine,
    pci: Optional[Pci],
    kernel: Optional[KernelDriver],
    log: Optional[KernelLog],
    nvml: Optional[Nvml],
    platform: Optional[Platform],
) -> Found:
    """The laptop's NVIDIA GPU is switched off in favour of the processor's own graphics.

    ## What it is
    Hybrid laptops (Optimus) can cut the NVIDIA card's power. bumblebee with bbswitch, `prime-select intel`, some vendors'
    tools and a firmware setting do so, and keep NVIDIA's driver from loading. The card is not broken.

    ## How it shows
    - `lspci` shows the NVIDIA card as `(rev ff)`, and the kernel log has no "fallen off the bus"
    - TensorFlow: `kernel driver does not appear to be running on this host`, `/proc/driver/nvidia/version does not exist`
    - `cat /proc/acpi/bbswitch` ends in OFF

    ## How to be sure
    `prime-select query` prints `intel`, or bbswitch prints OFF, and after the change below `nvidia-smi` works.

    ## What to do
    - Ubuntu and relatives: `prime-select on-demand` (or `nvidia`), then reboot.
    - bumblebee: start programs with `optirun`, or better remove bumblebee and bbswitch; today's drivers save power by themselves.
    - Others: envycontrol, supergfxctl or the firmware's "discrete graphics" setting.
    - WSL2 and Windows: the system switches by itself. Desktops and servers: does not arise.

    ## References
    - https://github.com/Bumblebee-Project/Bumblebee/issues/944
    - https://download.nvidia.com/XFree86/Linux-x86_64/550.54.14/README/dynamicpowermanagement.html
    """
    off = powered_off(pci, kernel, log)
    if works(nvml) or not off:
        return None
    switched = kernel is not None and "bbswitch" in kernel.modules
    message = _("The NVIDIA GPU at {bus} is switched off ({why}), so no driver can use it.").format(
        bus=off[0].address, why=_("bbswitch is loaded") if switched else _("hybrid graphics, the other GPU is in use")
    )
    evidence = [Evidence(_("{bus} reads as all ones").format(bus=off[0].address), pci.source if pci else "")]
    if kernel is not None:
        evidence.append(Evidence(_("NVIDIA's driver is not loaded"), kernel.source))
    if switched:
        fix = remedies.by_hand(
            _("Start the program on the NVIDIA GPU"),
            ("optirun", "python", "PROGRAM.py"),
            note=_("Or remove bumblebee and bbswitch."),
        )
    else:
        fix = remedies.by_hand(_("Switch the NVIDIA GPU on"), ("prime-select", "on-demand"), needs=("root", "reboot"))
    return Diagnosis(message, tuple(evidence), (fix,))
