"""TFD212 driver-kernel-module-missing."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import InstalledDriver, KernelDriver, KernelModuleFile
from tfdoctor.probes.nvml import Nvml
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import kernel_side


@rule("TFD212", Severity.ERROR, caused_by=("TFD201",), blocks=True)
def driver_kernel_module_missing(
    machine: GpuMachine,
    platform: Optional[Platform],
    container: Optional[Container],
    nvml: Optional[Nvml],
    kernel: Optional[KernelDriver],
    module: Optional[KernelModuleFile],
    installed: Optional[InstalledDriver],
) -> Found:
    """The driver's libraries are installed, but its kernel module does not exist for the running kernel.

    ## What it is
    A kernel module belongs to one kernel version. After a kernel update DKMS (or akmods) builds it again, if it is
    installed, and if the new kernel's headers and its compiler are. Cloud images update the kernel by themselves.

    ## How it shows
    - `NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver`
    - `modprobe: FATAL: Module nvidia not found in directory /lib/modules/…`
    - TensorFlow: `kernel driver does not appear to be running on this host`, `/proc/driver/nvidia/version does not exist`

    ## How to be sure
    `modinfo nvidia` finds nothing, `find /lib/modules -name 'nvidia.ko*'` shows it for another kernel only,
    `dkms status` does not list the running one (`uname -r`).

    ## What to do
    - Ubuntu, Debian: install `linux-headers-$(uname -r)`, then `dkms autoinstall`. A missing meta package
      (`linux-headers-generic`) is why it will happen again.
    - Fedora: `akmods --force`. RHEL: `kernel-devel-$(uname -r)`, then `dkms autoinstall`.
    - When the build fails, `/var/lib/dkms/nvidia/*/build/make.log` says why: mostly a driver too old for the kernel, or
      another gcc than the kernel's.
    - Quick way back: boot the kernel for which the module exists.
    - Docker, Kubernetes: on the host or node. WSL2, Windows: does not arise.

    ## References
    - https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/
    - https://github.com/GoogleCloudPlatform/compute-gpu-installation/issues/25
    - https://github.com/GoogleCloudPlatform/compute-gpu-installation/pull/18
    """
    if not kernel_side(platform, container, nvml, kernel) or module is None or module.path:
        return None
    if not module.other_kernels and (installed is None or not (installed.packages or installed.libraries)):
        return None
    running = platform.kernel if platform else _("the running kernel")
    if module.other_kernels:
        message = _("NVIDIA's kernel module does not exist for kernel {running}, only for {others}.").format(
            running=running, others=", ".join(module.other_kernels)
        )
    else:
        message = _("NVIDIA's libraries are installed, but there is no kernel module for kernel {running}.").format(
            running=running
        )
    if not module.headers:
        message += " " + _("The headers of that kernel, which building it needs, are not installed either.")
    evidence = (
        Evidence(_("no nvidia.ko for {running}").format(running=running), module.source),
        Evidence(_("NVIDIA's driver is not loaded"), kernel.source if kernel else ""),
    )
    return Diagnosis(message, evidence, (remedies.rebuild_driver(platform),))
