"""TFD242 driver-fails-to-initialise."""

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
from tfdoctor.probes.nvml import Gpus, Nvml
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container, Jetson
from tfdoctor.rules._hints import contained, listed, on_wsl, starts, tried, works
from tfdoctor.rules.driver._loaded import is_loaded

CAUSES = (
    *("TFD102", "TFD103", "TFD104", "TFD105", "TFD107"),  # hardware
    *("TFD201", "TFD202", "TFD205", "TFD206", "TFD207", "TFD216", "TFD217"),  # versions, WSL, device nodes
    *("TFD220", "TFD221", "TFD222", "TFD223", "TFD224", "TFD225"),  # containers and schedulers
    *("TFD230", "TFD237", "TFD241"),  # a driver that hangs, and what CUDA says of it
)
#: What nvidia-smi says of the whole driver; "gpu-lost" may leave other GPUs (TFD103).
SMI_SAYS = ("driver-not-loaded", "version-mismatch", "no-devices", "no-permission", "blocked-by-os", "unknown")


@rule("TFD242", Severity.ERROR, caused_by=CAUSES, blocks=True)
def driver_fails_to_initialise(
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
    log: Optional[KernelLog],
) -> Found:
    """NVIDIA's driver is loaded and does not come up, or lists no GPU that can be used.

    ## What it is
    The kernel module is there, so loading it is not what is missing. It refuses the program, it could not start the card, or
    its libraries are missing. tfdoctor folds this under the particular reason wherever it sees one (versions that differ,
    permissions, a lost GPU, a container that lost its GPUs). NVML's code 999 says nothing at all: then the verdict stays open.

    ## How it shows
    - nvidia-smi: `No devices were found`, `Failed to initialize NVML: Unknown Error`, `Insufficient Permissions`
    - `Unable to determine the device handle for GPU 0000:02:00.0: Unknown Error`
    - TensorFlow: `failed call to cuInit: CUDA_ERROR_NO_DEVICE` or `CUDA_ERROR_UNKNOWN`

    ## How to be sure
    `cat /proc/driver/nvidia/version` prints a version, and `nvidia-smi -L` no GPU. `dmesg | grep -E 'NVRM|Xid'` as root
    mostly names the reason.

    ## What to do
    - Linux: read the kernel log. `RmInitAdapter failed`: the open modules do not drive cards before Turing, and Blackwell
      needs the open ones; else power, seat and cables of the card. A reboot helps after an update.
    - Docker, Kubernetes: `Unknown Error` in a container that worked before: start it again, and look on the host.
    - Slurm: ask for a GPU (`--gres=gpu:1`); the node may hide those that were not asked for.
    - WSL2: restart WSL, then update the driver on Windows. Windows: look at the device manager. macOS: does not arise.

    ## References
    - https://docs.nvidia.com/deploy/nvidia-smi/index.html
    - https://github.com/NVIDIA/open-gpu-kernel-modules
    """
    if jetson is not None:
        raise NotApplicable(_("a Jetson's driver is part of its system"))
    if works(nvml):
        return _listing(gpus, platform, machine, cuda)
    if log is not None and log.of("gpu-not-supported"):
        return None  # TFD243
    if starts(cuda) or not is_loaded(nvml, smi, kernel):
        return None
    if nvml is None:
        if smi is None or smi.problem not in SMI_SAYS or on_wsl(platform):
            return None
        return _not_up(smi.problem, smi.text, smi.source, kernel, machine, platform)
    if nvml.state in ("timed-out", "crashed"):
        return None  # TFD237
    if nvml.state != "library-missing":
        return _not_up(nvml.state, nvml.error, nvml.source, kernel, machine, platform)
    if kernel is None or (library is not None and library.picked is not None):
        return None  # CUDA may work without NVML: TFD238 asks for it
    return _no_libraries(kernel, library, nvml, platform, container)


def _not_up(
    state: str,
    error: str,
    source: str,
    kernel: Optional[KernelDriver],
    machine: GpuMachine,
    platform: Optional[Platform],
) -> Diagnosis:
    why = " ".join((error or state).split()).rstrip(".")
    message = _("There is an NVIDIA GPU ({gpu}), but NVIDIA's driver does not come up ({why}).").format(
        gpu=machine.evidence, why=why
    )
    evidence = [Evidence(why, source)]
    if kernel is not None and kernel.loaded_version:
        evidence.append(Evidence(_("loaded driver: {version}").format(version=kernel.loaded_version), kernel.source))
    # "unknown" is what the driver itself says: it may be a passing state, or one that CUDA does not share.
    severity = Severity.WARNING if state == "unknown" else None
    return Diagnosis(message, tuple(evidence), (_look(platform),), severity)


def _no_libraries(
    kernel: KernelDriver,
    library: Optional[DriverLibrary],
    nvml: Nvml,
    platform: Optional[Platform],
    container: Optional[Container],
) -> Diagnosis:
    """The module is loaded, so that only its other half is missing: libcuda and libnvidia-ml."""
    loaded = kernel.loaded_version or _("(version not told)")
    message = _("The kernel driver {version} is loaded, but its libraries are not installed: {missing}.").format(
        version=loaded,
        missing="libnvidia-ml.so.1" if library is None else "libcuda.so.1, libnvidia-ml.so.1",
    )
    evidence = (
        Evidence(_("loaded driver: {version}").format(version=loaded), kernel.source),
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


def _look(platform: Optional[Platform]) -> Fix:
    if platform is not None and platform.wsl:
        return remedies.by_hand(_("Restart WSL, then update NVIDIA's driver on Windows"), ("wsl.exe", "--shutdown"))
    if platform is not None and platform.system == "windows":
        return remedies.install_driver(platform)
    return remedies.by_hand(_("Read what the kernel says"), ("dmesg",), needs=("root",))
