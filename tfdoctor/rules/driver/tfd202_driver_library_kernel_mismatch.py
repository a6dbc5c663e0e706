"""TFD202 driver-library-kernel-mismatch."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import InstalledDriver, KernelDriver, KernelModuleFile
from tfdoctor.probes.libraries import DriverLibrary
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Nvml
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import contained, on_wsl, returned, same_driver, says_cuda, starts, works
from tfdoctor.tables import Tables

MISMATCH = 803  # CUDA_ERROR_SYSTEM_DRIVER_MISMATCH


@rule("TFD202", Severity.ERROR, blocks=True)
def driver_library_kernel_mismatch(
    machine: GpuMachine,
    tables: Tables,
    platform: Optional[Platform],
    container: Optional[Container],
    nvml: Optional[Nvml],
    smi: Optional[NvidiaSmi],
    kernel: Optional[KernelDriver],
    module: Optional[KernelModuleFile],
    installed: Optional[InstalledDriver],
    library: Optional[DriverLibrary],
    cuda: Optional[CudaDriver],
    environment: Optional[Environment],
) -> Found:
    """The loaded kernel driver and the driver's libraries are of different versions.

    ## What it is
    An update replaced NVIDIA's libraries (libcuda, libnvidia-ml) while the old kernel module stayed loaded. The two talk
    to each other only when their versions are the same to the last digit. On Ubuntu it is mostly unattended-upgrades.

    ## How it shows
    - `Failed to initialize NVML: Driver/library version mismatch` from nvidia-smi (exit code 18)
    - `kernel version 535.171.4 does not match DSO version 535.183.1 -- cannot find working devices in this configuration`
    - `NVRM: API mismatch: the client has the version …, but this kernel module has the version …` in the kernel log
    - programs that were already on the GPU go on; new ones find none

    ## How to be sure
    Compare `cat /proc/driver/nvidia/version` (loaded) with `modinfo -F version nvidia` (on disk) and the numbers in
    `ls /usr/lib/*/libcuda.so.*`. When the module on disk has the libraries' version, a reboot is all it takes; when it
    is the old one too, the module was not rebuilt (TFD213).

    ## What to do
    - Linux: reboot. Without a reboot: stop everything on the GPU, unload nvidia_uvm, nvidia_drm, nvidia_modeset and nvidia,
      then `modprobe nvidia`.
    - So that it does not return: hold the driver packages (`apt-mark hold`, `dnf versionlock`) or exclude them from
      unattended upgrades, and update together with a reboot.
    - Two installations side by side (packages and a `.run` file): remove one of them.
    - Docker, Kubernetes: do it on the host, then start the containers again.
    - WSL2: nvidia-smi and the Windows driver show different numbers there; that is no fault.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/1158
    - https://github.com/lyulyul/shine-cluster/issues/30
    """
    if contained(container) or on_wsl(platform) or starts(cuda):
        return None
    if works(nvml):
        return _another_libcuda(cuda, kernel, library, environment, tables)
    said = (
        returned(cuda, MISMATCH)
        or (nvml is not None and nvml.state == "version-mismatch")
        or (smi is not None and smi.problem == "version-mismatch")
    )
    loaded = kernel.loaded_version if kernel else ""
    known = _of_libraries(nvml, smi, installed, library)
    differing = [version for version in known if not loaded or not same_driver(version, loaded)]
    fits = len(differing) < len(known)  # two installations side by side: only the driver's own word counts then
    wanted = differing[0] if differing and (said or not fits) else ""
    if not said and (not loaded or not wanted):
        return None
    if module is not None and loaded and module.path and module.version == loaded and wanted:
        return None  # a reboot would load the same old module again: TFD213
    message = _(
        "The loaded kernel driver is {loaded}, but the driver's libraries are {libraries}; both must be the same."
    ).format(loaded=loaded or _("of another version"), libraries=wanted or _("of another version"))
    evidence = [Evidence(_("loaded: {version}").format(version=loaded), kernel.source)] if kernel and loaded else []
    if wanted:
        evidence.append(
            Evidence(_("libraries: {version}").format(version=wanted), installed.source if installed else "NVML")
        )
    if said and nvml is not None:
        evidence.append(Evidence(nvml.error or _("NVML reports a version mismatch"), nvml.source))
    note = _("A reboot loads the module that fits the libraries. Hold the driver packages so that it does not return.")
    return Diagnosis(message, tuple(evidence), (remedies.reboot(note),))


def _another_libcuda(
    cuda: Optional[CudaDriver],
    kernel: Optional[KernelDriver],
    library: Optional[DriverLibrary],
    environment: Optional[Environment],
    tables: Tables,
) -> Found:
    """NVML's library fits the kernel driver; CUDA says that the libcuda which the loader takes does not."""
    if cuda is None or not returned(cuda, MISMATCH):
        return None
    picked = library.picked if library else None
    path = picked.path if picked else cuda.path
    loaded = kernel.loaded_version if kernel else ""
    message = _("The loaded kernel driver is {loaded}, but {path} is {have}; both must be the same.").format(
        loaded=loaded or _("of another version"),
        path=path or "libcuda.so.1",
        have=picked.version if picked and picked.version != loaded and picked.version else _("of another version"),
    )
    evidence = [says_cuda(cuda, tables)]
    if kernel and loaded:
        evidence.append(Evidence(_("loaded: {version}").format(version=loaded), kernel.source))
    folder = path.rpartition("/")[0]
    entries = [e for e in (environment.get("LD_LIBRARY_PATH") if environment else "").split(":") if e]
    kept = [entry for entry in entries if entry.rstrip("/") != folder]
    note = _("The driver's own libcuda must come first; nvidia-smi's library is already of the right version.")
    if folder and kept != entries:
        fix = remedies.variable("LD_LIBRARY_PATH", ":".join(kept) or None, note=note)
    else:
        title = _("Remove {path}, or install the driver again").format(path=path or "libcuda.so.1")
        fix = remedies.by_hand(title, note=note, needs=("root",))
    return Diagnosis(message, tuple(evidence), (fix,))


def _of_libraries(
    nvml: Optional[Nvml],
    smi: Optional[NvidiaSmi],
    installed: Optional[InstalledDriver],
    library: Optional[DriverLibrary],
) -> list[str]:
    """The versions of the driver's libraries that are told, the ones in use first."""
    picked = library.picked if library else None
    if picked is not None and picked.origin not in ("system", ""):
        picked = None  # compat, stub and image copies are other faults
    known = [nvml.library_version if nvml else "", smi.library_version if smi else "", picked.version if picked else ""]
    known += sorted(installed.library_versions) if installed else []
    return [version for version in known if version]
