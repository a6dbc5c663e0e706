"""TFD201 driver-not-installed."""

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
from tfdoctor.probes.surroundings import Container, Jetson
from tfdoctor.rules._hints import kernel_side


@rule("TFD201", Severity.ERROR, blocks=True)
def driver_not_installed(
    machine: GpuMachine,
    platform: Optional[Platform],
    nvml: Optional[Nvml],
    kernel: Optional[KernelDriver],
    installed: Optional[InstalledDriver],
    module: Optional[KernelModuleFile],
    container: Optional[Container],
    jetson: Optional[Jetson],
) -> Found:
    """An NVIDIA GPU is there, and NVIDIA's driver is not installed.

    ## What it is
    CUDA programs reach the GPU through `libcuda.so.1` (Windows: `nvcuda.dll`), which comes with the driver. Neither pip,
    conda nor a container image can bring it: it belongs to the operating system, and to the host of a container.

    ## How it shows
    - `nvidia-smi: command not found`
    - `Could not find cuda drivers on your machine`, `failed call to cuInit: UNKNOWN ERROR (303)`
    - Docker: `load library failed: libnvidia-ml.so.1: cannot open shared object file`

    ## How to be sure
    `lspci -nn -d 10de:` shows the GPU, `/proc/driver/nvidia/version` does not exist, `ldconfig -p | grep libcuda` prints
    nothing, and no driver package is installed.

    ## What to do
    - Ubuntu: `ubuntu-drivers install`, then reboot. Debian: `nvidia-driver` from non-free and the kernel's headers.
    - Fedora: `akmod-nvidia` from RPM Fusion. RHEL and relatives: `nvidia-open` from NVIDIA's repository.
    - SUSE, Arch: the distribution's packages. Do not mix packages with NVIDIA's `.run` installer.
    - WSL2: install the driver on Windows, never inside WSL, then `wsl --shutdown`.
    - Windows: NVIDIA's installer. macOS: there is no driver.
    - Docker, Kubernetes: install it on the host or node (NVIDIA's GPU operator can do it for a cluster).
    - Turing and newer may use the open kernel modules; Blackwell must.

    ## References
    - https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/
    - https://documentation.ubuntu.com/server/how-to/graphics/install-nvidia-drivers/
    - https://docs.nvidia.com/cuda/wsl-user-guide/index.html
    """
    if jetson is not None:
        return None
    if platform is not None and platform.system == "windows":
        return _on_windows(platform, nvml, machine)
    if not kernel_side(platform, container, nvml, kernel) or installed is None or (module is not None and module.path):
        return None
    if installed.packages or installed.libraries:
        return None
    message = _("There is an NVIDIA GPU ({gpu}), but NVIDIA's driver is not installed.").format(gpu=machine.evidence)
    evidence = (
        Evidence(machine.evidence, machine.source),
        Evidence(_("no driver package and no libcuda.so"), installed.source),
        Evidence(_("no NVIDIA driver loaded"), kernel.source if kernel else ""),
    )
    return Diagnosis(message, evidence, (remedies.install_driver(platform),))


def _on_windows(platform: Platform, nvml: Optional[Nvml], machine: GpuMachine) -> Found:
    if nvml is None or nvml.state != "library-missing":
        return None
    message = _("There is an NVIDIA GPU ({gpu}), but NVIDIA's driver is not installed.").format(gpu=machine.evidence)
    evidence = (Evidence(_("nvml.dll was not found"), nvml.source),)
    return Diagnosis(message, evidence, (remedies.install_driver(platform),))
