"""TFD210 driver-blocked-by-nouveau."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.nvml import Nvml
from tfdoctor.probes.pci import Pci
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import kernel_side


@rule("TFD210", Severity.ERROR, caused_by=("TFD201",), blocks=True)
def driver_blocked_by_nouveau(
    machine: GpuMachine,
    platform: Optional[Platform],
    container: Optional[Container],
    nvml: Optional[Nvml],
    kernel: Optional[KernelDriver],
    pci: Optional[Pci],
) -> Found:
    """The open nouveau driver holds the GPU, so NVIDIA's driver cannot take it.

    ## What it is
    `nouveau` is the kernel's own driver for NVIDIA cards. It has no CUDA. One device has one driver: while nouveau is
    bound to it, the module `nvidia` loads without a device or not at all.

    ## How it shows
    - `NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver`
    - `NVRM: GPU … is already bound to nouveau` in the kernel log
    - `modprobe: ERROR: could not insert 'nvidia': No such device`

    ## How to be sure
    `lspci -nnk -d 10de:` prints `Kernel driver in use: nouveau`.

    ## What to do
    - Linux: keep nouveau from loading (`blacklist nouveau` and `options nouveau modeset=0` in a file below
      `/etc/modprobe.d`), build the initial ramdisk again, reboot. Packages of the distribution do this by themselves.
    - Kubernetes: the node must be done so too; a driver container cannot replace nouveau while it is in use.
    - WSL2, Windows and macOS: does not arise.

    ## References
    - https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/
    - https://github.com/NVIDIA/gpu-operator/issues/8
    """
    if not kernel_side(platform, container, nvml, kernel) or kernel is None or "nouveau" not in kernel.modules:
        return None
    held = [d for d in pci.nvidia_gpus if d.driver == "nouveau"] if pci else []
    if pci is not None and not held:
        return None  # loaded, but bound to none of these GPUs
    gpu = held[0].address if held else machine.evidence
    message = _("The nouveau driver is loaded and holds {gpu}, so NVIDIA's driver is not in use.").format(gpu=gpu)
    evidence = [Evidence(_("nouveau is loaded and nvidia is not"), kernel.source)]
    if pci is not None:
        evidence.append(Evidence(_("{gpu} is bound to nouveau").format(gpu=gpu), pci.source))
    return Diagnosis(message, tuple(evidence), (_keep_out(platform),))


def _keep_out(platform: Optional[Platform]) -> Fix:
    family = remedies.distro_family(platform)
    again = {"ubuntu": ("update-initramfs", "-u"), "debian": ("update-initramfs", "-u"), "arch": ("mkinitcpio", "-P")}
    note = _(
        'First write "blacklist nouveau" and "options nouveau modeset=0" to /etc/modprobe.d/blacklist-nouveau.conf. Reboot afterwards.'
    )
    command = again.get(family, ("dracut", "--force"))
    return remedies.by_hand(_("Keep nouveau from loading"), command, note=note, needs=("root", "reboot"))
