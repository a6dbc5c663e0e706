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
from tfdoctor.probes.libraries import DriverLibrary
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Gpus, Nvml
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container, Jetson
from tfdoctor.rules._hints import contained, listed, not_loaded, on_wsl, tried

CAUSES = (
    *("TFD102", "TFD103", "TFD104", "TFD105", "TFD107"),  # hardware
    *("TFD201", "TFD202", "TFD205", "TFD206", "TFD207"),  # not installed, another version, WSL
    *("TFD210", "TFD211", "TFD212", "TFD213", "TFD216", "TFD217"),  # kernel and device nodes
    *("TFD220", "TFD221", "TFD222", "TFD223", "TFD224", "TFD225"),  # containers and schedulers
    *("TFD230", "TFD237"),  # a driver that hangs
)

#: What nvidia-smi says when the driver does not come up, where NVML itself could not be asked (recordings).
SMI_SAYS = ("driver-not-loaded", "version-mismatch", "no-devices", "no-permission", "blocked-by-os")


@rule("TFD238", Severity.ERROR, caused_by=CAUSES, blocks=True)
def driver_not_loaded(
    machine: GpuMachine,
    nvml: Optional[Nvml],
    smi: Optional[NvidiaSmi],
    gpus: Optional[Gpus],
    kernel: Optional[KernelDriver],
    library: Optional[DriverLibrary],
    platform: Optional[Platform],
    container: Optional[Container],
    jetson: Optional[Jetson],
    cuda: Optional[CudaDriver],
) -> Found:
    """The GPU is there, but NVIDIA's driver does not come up for it.

    ## What it is
    The general form of many faults: the kernel module is not loaded, the library cannot reach it, or it lists no GPU. tfdoctor
    folds this under the particular reason wherever it sees one (no driver installed, nouveau, Secure Boot, another kernel,
    versions that differ, a container without GPUs). Standing alone it means that none of those could be seen.

    ## How it shows
    - `NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver`
    - nvidia-smi: `No devices were found`
    - TensorFlow: `failed call to cuInit: CUDA_ERROR_NO_DEVICE`, `kernel driver does not appear to be running on this host`

    ## How to be sure
    `cat /proc/driver/nvidia/version` does not exist, or `nvidia-smi -L` prints nothing. `modprobe nvidia; dmesg | tail` as
    root mostly names the reason (an old card with a driver that dropped it says so in the kernel log).

    ## What to do
    - Linux: `modprobe nvidia` and read the last lines of `dmesg`. `No devices were found` with `RmInitAdapter failed`: the
      open modules do not drive cards before Turing, and Blackwell needs the open ones.
    - Docker, Kubernetes: do it on the host or node.
    - WSL2: restart WSL, then update the driver on Windows. Windows: look at the device manager.

    ## References
    - https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/
    - https://github.com/NVIDIA/open-gpu-kernel-modules
    """
    if jetson is not None:
        raise NotApplicable(_("a Jetson's driver is part of its system"))
    if nvml is not None and nvml.state == "ok":
        return _listing(gpus, platform, machine, cuda)
    if nvml is not None and nvml.state in ("timed-out", "crashed"):
        return None  # TFD237
    if nvml is not None and nvml.state == "library-missing" and _may_still_work(library, kernel, platform):
        if tried(cuda):
            return None  # CUDA starts, or TFD241 says that it does not
        raise Unavailable(_("libnvidia-ml.so.1 is not installed here, so the GPUs could not be listed"))
    said = smi is not None and smi.problem in SMI_SAYS
    if nvml is None and not said and (not not_loaded(kernel) or on_wsl(platform)):
        return None
    if nvml is not None and nvml.state == "library-missing" and kernel is not None and kernel.loaded_version:
        return _no_libraries(kernel, library, nvml, platform, container)
    return _not_up(nvml, smi if said else None, kernel, machine, platform, container)


def _no_libraries(
    kernel: KernelDriver,
    library: Optional[DriverLibrary],
    nvml: Nvml,
    platform: Optional[Platform],
    container: Optional[Container],
) -> Diagnosis:
    """The module is loaded, so that only its other half is missing: libcuda and libnvidia-ml."""
    message = _("The kernel driver {version} is loaded, but its libraries are not installed: {missing}.").format(
        version=kernel.loaded_version,
        missing="libnvidia-ml.so.1" if library is None else "libcuda.so.1, libnvidia-ml.so.1",
    )
    evidence = (
        Evidence(_("loaded driver: {version}").format(version=kernel.loaded_version), kernel.source),
        Evidence(nvml.error or nvml.state, nvml.source),
    )
    note = _("The libraries must be of the same version as the loaded driver.")
    if contained(container):
        fix = remedies.container_with_gpus(container.kind if container else "")
    else:
        again = remedies.install_driver(platform)
        fix = remedies.by_hand(_("Install the driver's libraries"), *again.commands, note=note, needs=("root",))
    return Diagnosis(message, evidence, (fix,))


def _listing(
    gpus: Optional[Gpus], platform: Optional[Platform], machine: GpuMachine, cuda: Optional[CudaDriver]
) -> Found:
    """The driver answers: does it list a GPU that can be used?"""
    if gpus is None:
        return None
    lost = [g for g in gpus if g.lost]
    if len(gpus) == 0:
        message = _("There is an NVIDIA GPU ({gpu}) and the driver answers, but lists no GPU.").format(
            gpu=machine.evidence
        )
    elif len(lost) == len(gpus):
        message = _("The driver has lost every GPU ({gpus}).").format(gpus=listed(g.index for g in lost))
    elif lost and tried(cuda):
        return None
    elif lost:
        raise Unavailable(
            _("GPU {gpus} is lost, and whether CUDA starts with the others is not known").format(
                gpus=listed(g.index for g in lost)
            )
        )
    else:
        return None
    return Diagnosis(message, (Evidence(_("usable GPUs: none"), gpus.source),), (_look(platform),))


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
    if contained(container) and not_loaded(kernel):
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
