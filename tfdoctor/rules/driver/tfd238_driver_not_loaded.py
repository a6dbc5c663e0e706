"""TFD238 driver-not-loaded."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, NotApplicable, Severity, Unavailable
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.libraries import DriverLibrary
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Nvml
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container, Jetson
from tfdoctor.rules._hints import contained, not_loaded, on_wsl, tried, works
from tfdoctor.rules.driver._loaded import is_loaded

CAUSES = (
    *("TFD102", "TFD103", "TFD104", "TFD105", "TFD107"),  # hardware
    *("TFD201", "TFD202", "TFD205", "TFD206", "TFD207"),  # not installed, another version, WSL
    *("TFD210", "TFD211", "TFD212", "TFD213", "TFD216", "TFD217"),  # kernel and device nodes
    *("TFD220", "TFD221", "TFD222", "TFD223", "TFD224", "TFD225"),  # containers and schedulers
    *("TFD230", "TFD237"),  # a driver that hangs
)

#: What nvidia-smi says when the driver does not come up, where NVML itself could not be asked (recordings).
SMI_SAYS = ("driver-not-loaded", "version-mismatch", "no-permission", "blocked-by-os")


@rule("TFD238", Severity.ERROR, caused_by=CAUSES, blocks=True)
def driver_not_loaded(
    machine: GpuMachine,
    nvml: Optional[Nvml],
    smi: Optional[NvidiaSmi],
    kernel: Optional[KernelDriver],
    library: Optional[DriverLibrary],
    platform: Optional[Platform],
    container: Optional[Container],
    jetson: Optional[Jetson],
    cuda: Optional[CudaDriver],
    log: Optional[KernelLog],
) -> Found:
    """The GPU is there, but NVIDIA's driver does not come up for it.

    ## What it is
    The general form of many faults: the kernel module is not loaded, or the library cannot reach it. tfdoctor
    folds this under the particular reason wherever it sees one (no driver installed, nouveau, Secure Boot, another kernel,
    versions that differ, a container without GPUs). Standing alone it means that none of those could be seen.

    ## How it shows
    - `NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver`
    - TensorFlow: `failed call to cuInit: CUDA_ERROR_NO_DEVICE`, `kernel driver does not appear to be running on this host`

    ## How to be sure
    `cat /proc/driver/nvidia/version` does not exist. `modprobe nvidia; dmesg | tail` as
    root mostly names the reason (an old card with a driver that dropped it says so in the kernel log).

    ## What to do
    - Linux: `modprobe nvidia` and read the last lines of `dmesg`.
    - Docker, Kubernetes: do it on the host or node.
    - WSL2: restart WSL, then update the driver on Windows. Windows: look at the device manager.

    ## References
    - https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/
    - https://github.com/NVIDIA/open-gpu-kernel-modules
    """
    if jetson is not None:
        raise NotApplicable(_("a Jetson's driver is part of its system"))
    if works(nvml):
        return None  # TFD242
    if log is not None and log.of("gpu-not-supported"):
        return None  # TFD243
    if nvml is not None and nvml.state in ("timed-out", "crashed"):
        return None  # TFD237
    if nvml is not None and nvml.state == "library-missing" and _may_still_work(library, kernel, platform):
        if tried(cuda):
            return None  # CUDA starts, or TFD241 says that it does not
        raise Unavailable(_("libnvidia-ml.so.1 is not installed here, so the GPUs could not be listed"))
    if is_loaded(nvml, smi, kernel):
        return None  # TFD242
    said = smi is not None and smi.problem in SMI_SAYS
    if nvml is None and not said and (not not_loaded(kernel) or on_wsl(platform)):
        return None
    return _not_up(nvml, smi if said else None, kernel, machine, platform, container)


def _may_still_work(
    library: Optional[DriverLibrary], kernel: Optional[KernelDriver], platform: Optional[Platform]
) -> bool:
    """libcuda is there and nothing says that the kernel's side is not: containers with NVIDIA_DRIVER_CAPABILITIES=compute."""
    picked = library.picked if library else None
    return picked is not None and picked.origin != "stub" and (on_wsl(platform) or not not_loaded(kernel))


def _not_up(
    nvml: Optional[Nvml],
    smi: Optional[NvidiaSmi],
    kernel: Optional[KernelDriver],
    machine: GpuMachine,
    platform: Optional[Platform],
    container: Optional[Container],
) -> Diagnosis:
    why = _("not loaded")
    if nvml is not None:
        why = nvml.error or nvml.state
    elif smi is not None:
        why = _("nvidia-smi: {problem}").format(problem=smi.problem)
    if nvml is None and smi is not None and machine.source == smi.source:
        message = _("NVIDIA's driver does not come up ({why}).").format(
            why=why
        )  # nothing else says that there is a GPU
    elif contained(container) and not_loaded(kernel):
        message = _(
            "There is an NVIDIA GPU ({gpu}), but NVIDIA's driver is not loaded on the container's host."
        ).format(gpu=machine.evidence)
    else:
        message = _("There is an NVIDIA GPU ({gpu}), but NVIDIA's driver does not come up ({why}).").format(
            gpu=machine.evidence, why=why
        )
    asked = nvml or smi
    evidence = [Evidence(why, asked.source)] if asked else []
    if kernel is not None and not on_wsl(platform):
        evidence.append(
            Evidence(_("loaded driver: {version}").format(version=kernel.loaded_version or _("none")), kernel.source)
        )
    return Diagnosis(message, tuple(evidence), (_look(platform),))


def _look(platform: Optional[Platform]) -> Fix:
    if platform is not None and platform.wsl:
        return remedies.by_hand(_("Restart WSL, then update NVIDIA's driver on Windows"), ("wsl.exe", "--shutdown"))
    if platform is not None and platform.system == "windows":
        return remedies.install_driver(platform)
    return remedies.by_hand(
        _("Load the driver and read what the kernel says"), ("modprobe", "nvidia"), ("dmesg",), needs=("root",)
    )
