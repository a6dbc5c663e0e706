"""TFD206 wsl-linux-driver-installed."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, NotApplicable, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.libraries import DriverLibrary
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Nvml
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container, Wsl
from tfdoctor.rules._hints import contained


@rule("TFD206", Severity.ERROR)
def wsl_linux_driver_installed(
    machine: GpuMachine,
    wsl: Wsl,
    platform: Optional[Platform],
    container: Optional[Container],
    library: Optional[DriverLibrary],
    nvml: Optional[Nvml],
    smi: Optional[NvidiaSmi],
) -> Found:
    """A Linux NVIDIA driver is installed inside WSL2, where the driver belongs to Windows.

    ## What it is
    Under WSL2 the kernel side of the driver is Windows's, and `libcuda.so.1` comes from `/usr/lib/wsl/lib`. A Linux driver
    package (often pulled in by the meta packages `cuda` or `nvidia-driver-…`) puts a second `libcuda.so.1` beside it that
    speaks to a kernel module that does not exist here.

    ## How it shows
    - `failed call to cuInit: CUDA_ERROR_NO_DEVICE` although `/usr/lib/wsl/lib/nvidia-smi` works
    - `ldconfig -p | grep libcuda` shows `/usr/lib/x86_64-linux-gnu/libcuda.so.1`

    ## How to be sure
    `dpkg -l | grep -E 'nvidia-driver|libnvidia-compute'` lists packages. It is harmless only as long as the loader takes
    the file from `/usr/lib/wsl/lib`.

    ## What to do
    - WSL2: remove the packages, then `wsl --shutdown`. Install CUDA toolkits from NVIDIA's `wsl-ubuntu` repository or with
      `cuda-toolkit-12-x`, never `cuda` or `cuda-drivers`.
    - A driver that was installed from a `.run` file: `nvidia-uninstall`.

    ## References
    - https://docs.nvidia.com/cuda/wsl-user-guide/index.html
    - https://github.com/Genesis-Embodied-AI/genesis-world/issues/114
    """
    if contained(container):
        raise NotApplicable(_("in a container the toolkit mounts the driver's libraries elsewhere"))
    there = wsl.linux_driver or wsl.linux_libcuda
    if not there:
        return None
    picked = library.picked if library else None
    wins = picked is not None and picked.origin != "wsl" and not picked.path.startswith("/usr/lib/wsl/")
    if wins and picked is not None:
        message = _(
            "A Linux driver is installed inside WSL2 ({what}), and its {path} is loaded instead of Windows's libcuda.so.1."
        ).format(what=", ".join(there), path=picked.path)
    elif library is None and _fails(nvml, smi):
        wins = True
        message = _(
            "A Linux driver is installed inside WSL2 ({what}), where the driver belongs to Windows, and the driver does not answer."
        ).format(what=", ".join(there))
    else:
        message = _(
            "A Linux driver is installed inside WSL2 ({what}); the driver belongs to Windows, and updates may make it win."
        ).format(what=", ".join(there))
    fix = remedies.by_hand(_("Remove the Linux driver from WSL"), *_removal(wsl, platform), needs=("root", "new shell"))
    return Diagnosis(message, (Evidence(", ".join(there), wsl.source),), (fix,), None if wins else Severity.WARNING)


def _fails(nvml: Optional[Nvml], smi: Optional[NvidiaSmi]) -> bool:
    """NVML or nvidia-smi was asked and did not work."""
    return (nvml is not None and nvml.state != "ok") or (smi is not None and smi.problem not in ("", "missing"))


def _removal(wsl: Wsl, platform: Optional[Platform]) -> tuple[tuple[str, ...], ...]:
    if not wsl.linux_driver:
        return (("nvidia-uninstall",),)
    if remedies.distro_family(platform) in ("fedora", "rhel"):
        return (("dnf", "remove", *wsl.linux_driver),)
    return (("apt-get", "purge", *wsl.linux_driver), ("apt-get", "autoremove", "--purge"))
