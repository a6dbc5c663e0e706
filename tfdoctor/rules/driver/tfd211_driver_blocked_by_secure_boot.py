"""TFD211 driver-blocked-by-secure-boot."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import KernelDriver, KernelModuleFile, KernelSettings
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import Nvml
from tfdoctor.probes.pci import Pci
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import kernel_side, powered_off


@rule("TFD211", Severity.ERROR, caused_by=("TFD104", "TFD201", "TFD210"), blocks=True)
def driver_blocked_by_secure_boot(
    machine: GpuMachine,
    platform: Optional[Platform],
    container: Optional[Container],
    nvml: Optional[Nvml],
    kernel: Optional[KernelDriver],
    module: Optional[KernelModuleFile],
    settings: Optional[KernelSettings],
    log: Optional[KernelLog],
    pci: Optional[Pci],
) -> Found:
    """Secure Boot keeps NVIDIA's kernel module out because its signature is missing or not trusted.

    ## What it is
    With Secure Boot on, the kernel loads only modules signed with a key that the firmware or the machine owner list
    knows. A module that DKMS built on this machine is signed with a local key at best, and that key must be enrolled once,
    at a blue screen during the next boot.

    ## How it shows
    - `modprobe: ERROR: could not insert 'nvidia': Key was rejected by service` (older kernels: `Required key not available`)
    - `Loading of unsigned module is rejected`, `Lockdown: modprobe: unsigned module loading is restricted` in the kernel log
    - `NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver`

    ## How to be sure
    `mokutil --sb-state` says `SecureBoot enabled`, the module exists (`modinfo nvidia`), and `dmesg` has one of the lines
    above. `modinfo -F signer nvidia` names the key, `mokutil --list-enrolled` the known ones.

    ## What to do
    - Ubuntu, Debian: `mokutil --import /var/lib/shim-signed/mok/MOK.der` (Debian: `/var/lib/dkms/mok.pub`), reboot, choose
      "Enroll MOK". Or install Ubuntu's ready-signed `linux-modules-nvidia-…`.
    - Fedora with akmods: `kmodgenca -a`, then `mokutil --import /etc/pki/akmods/certs/public_key.der`, reboot.
    - RHEL, SUSE: the vendors' precompiled modules are signed; enrol their key.
    - Any: switch Secure Boot off in the firmware. WSL2, Windows, macOS: does not arise. Containers: on the host.

    ## References
    - https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/
    - https://wiki.debian.org/SecureBoot
    - https://github.com/gridhead/nvidia-auto-installer-for-fedora-linux/issues/64
    """
    if not kernel_side(platform, container, nvml, kernel) or kernel is None or powered_off(pci, kernel, log):
        return None
    refused = (log.of("key-rejected") or log.of("lockdown")) if log else ()
    likely = (
        settings is not None
        and settings.secure_boot
        and module is not None
        and module.path
        and "nouveau" not in kernel.modules
    )
    if not refused and not (likely and log is None):
        return None  # a readable log without a refusal speaks against it
    signer = (module.signer if module else "") or _("nobody that could be told")
    path = (module.path if module else "") or "nvidia.ko"
    message = _("Secure Boot is on, and the kernel has not loaded {path}, which is signed by {signer}.").format(
        path=path, signer=signer
    )
    evidence = [Evidence(_("NVIDIA's driver is not loaded"), kernel.source)]
    if refused and log is not None:
        evidence.append(Evidence(_("the kernel refused a module for its signature"), log.source))
    if settings is not None and settings.secure_boot:
        evidence.append(Evidence(_("Secure Boot is on"), settings.source))
    note = _(
        'At the next boot choose "Enroll MOK" and give the password again. Or switch Secure Boot off in the firmware.'
    )
    fix = remedies.by_hand(
        _("Enrol the key that signs the module"), _import(platform), note=note, needs=("root", "reboot")
    )
    return Diagnosis(message, tuple(evidence), (fix,))


def _import(platform: Optional[Platform]) -> tuple[str, ...]:
    keys = {
        "ubuntu": "/var/lib/shim-signed/mok/MOK.der",
        "debian": "/var/lib/dkms/mok.pub",
        "fedora": "/etc/pki/akmods/certs/public_key.der",
    }
    return ("mokutil", "--import", keys.get(remedies.distro_family(platform), "/var/lib/dkms/mok.pub"))
