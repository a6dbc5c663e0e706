"""TFD243 driver-not-for-this-gpu."""

from __future__ import annotations

import re
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import Nvml
from tfdoctor.probes.platform import Platform
from tfdoctor.rules._hints import works

_LEGACY = re.compile(r"NVIDIA ([\d.]+?)\.?x+ Legacy")


@rule("TFD243", Severity.ERROR, caused_by=("TFD102", "TFD103", "TFD104", "TFD201", "TFD211"), blocks=True)
def driver_not_for_this_gpu(
    machine: GpuMachine, log: Optional[KernelLog], nvml: Optional[Nvml], platform: Optional[Platform]
) -> Found:
    """The NVIDIA driver that is installed is not one for this GPU: another branch, or the other kind of kernel module.

    ## What it is
    NVIDIA's driver comes with two kinds of kernel module. The open one drives Turing (GeForce 16 and 20) and newer alone, the
    proprietary one nothing from Blackwell (GeForce 50) on; packages now install the open kind by default. And every branch
    leaves old cards out: 470 is the last for Kepler, 580 the last for Maxwell, Pascal and Volta. The module builds and loads,
    and then refuses the card.

    ## How it shows
    - `nvidia-smi`: `No devices were found`, or that it cannot communicate with the driver
    - Kernel log: `NVRM: installed in this system is not supported by open nvidia.ko because it does not include the required
      GPU System Processor (GSP)`, `requires use of the NVIDIA open kernel modules`, `is supported through the NVIDIA 470.xx
      Legacy drivers`, `is not supported by the NVIDIA 520.56.06 driver release`

    ## How to be sure
    `dmesg | grep -A6 "NVRM: The NVIDIA"` names the card and the reason. `modinfo -F license nvidia` prints `Dual MIT/GPL` for
    the open kind and `NVIDIA` for the proprietary one. A laptop's card that is switched off gives the last of these messages
    as well.

    ## What to do
    - Linux, card before Turing: the proprietary kind of a branch that still has the card, such as `nvidia-driver-580` without
      `-open` (Arch: the 580xx packages; Fedora's akmods: `kernel` in /etc/nvidia/kernel.conf, then build again).
    - Linux, Blackwell: the open kind, `nvidia-driver-580-open` or newer (`-m=kernel-open` with NVIDIA's installer).
    - Purge the packages of the other kind first, and restart afterwards.
    - Docker, Kubernetes, Slurm: on the host or node. WSL2, Windows: the driver of the card's series from NVIDIA's page.
    - macOS: does not arise.

    ## References
    - https://github.com/negativo17/nvidia-driver/issues/158
    - https://github.com/NVIDIA/open-gpu-kernel-modules/issues/862
    - https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/
    """
    if log is None or works(nvml):
        return None  # the driver came up: another card's line, or one from before a restart of the module
    said = log.of("gpu-not-supported")
    if not said:
        return None
    message, fix = _told(" ".join(said), platform)
    evidence = (Evidence(said[0], log.source), Evidence(machine.evidence, machine.source))
    return Diagnosis(message, evidence, (fix,))


def _told(said: str, platform: Optional[Platform]) -> tuple[str, Fix]:
    legacy = _LEGACY.search(said)
    if "requires use of" in said:
        message = _("This GPU needs the open kind of NVIDIA's kernel modules, and the proprietary kind is installed.")
        return message, remedies.by_hand(
            _("Install the open kind of the driver, after purging the other one"), needs=("root", "reboot")
        )
    if "supported by open" in said or "does not include" in said:
        message = _("This GPU needs the proprietary kind of NVIDIA's kernel modules, and the open kind is installed.")
        return message, remedies.by_hand(
            _("Install the proprietary kind of the driver, of a branch that still has this GPU (580 or older)"),
            needs=("root", "reboot"),
        )
    if legacy:
        message = _("The installed NVIDIA driver has dropped this GPU; branch {branch} is the last that drives it.")
        title = _("Install a driver of branch {branch}, after purging the newer one")
        branch = legacy.group(1)
        return message.format(branch=branch), remedies.by_hand(title.format(branch=branch), needs=("root", "reboot"))
    return _("The installed NVIDIA driver does not know this GPU."), remedies.install_driver(platform)
