"""TFD223 docker-libcuda-host-mismatch."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.libraries import DriverLibrary, LibraryFile
from tfdoctor.probes.nvml import Gpus, Nvml
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import consumer, contained, older, on_wsl, returned, same_driver, says_cuda, starts
from tfdoctor.tables import Tables

MISMATCH = 803  # CUDA_ERROR_SYSTEM_DRIVER_MISMATCH


@rule("TFD223", Severity.ERROR, blocks=True)
def docker_libcuda_host_mismatch(
    machine: GpuMachine,
    tables: Tables,
    platform: Optional[Platform],
    container: Optional[Container],
    nvml: Optional[Nvml],
    kernel: Optional[KernelDriver],
    library: Optional[DriverLibrary],
    gpus: Optional[Gpus],
    cuda: Optional[CudaDriver],
) -> Found:
    """The container's image carries a libcuda of its own that does not fit the host's kernel driver.

    ## What it is
    libcuda.so.1 must come from the host's driver; the container toolkit mounts it. An image in which a driver package was
    installed (`apt-get install cuda`, `nvidia-driver-…`), or whose cuda-compat folder comes first, has another one, and
    that one talks to a kernel module of another version.

    ## How it shows
    - `kernel version A does not match DSO version B -- cannot find working devices in this configuration`
    - `CUDA_ERROR_SYSTEM_DRIVER_MISMATCH` (803)
    - `Failed to initialize NVML: Driver/library version mismatch` in the container while the host's nvidia-smi works

    ## How to be sure
    In the container compare `cat /proc/driver/nvidia/version` with `ldconfig -p | grep libcuda` and the number of the file
    behind it. If the host's nvidia-smi fails too, the host has the fault (TFD202).

    ## What to do
    - Docker, Kubernetes: remove driver packages from the image (install `cuda-toolkit-12-x`, never `cuda` or `cuda-drivers`), take
      `/usr/local/cuda/compat` out of `LD_LIBRARY_PATH`, or use an image whose CUDA the host's driver covers.
    - The host's driver was updated while the container ran: start the container again.
    - cuda-compat is meant for data-centre GPUs and for drivers older than it.
    - Linux without a container: TFD202. WSL2: does not arise.

    ## References
    - https://github.com/pytorch/pytorch/issues/63801
    - https://github.com/NVIDIA/nvidia-docker/issues/1704
    - https://docs.nvidia.com/deploy/cuda-compatibility/forward-compatibility.html
    """
    if not contained(container) or on_wsl(platform) or starts(cuda):
        return None
    loaded = kernel.loaded_version if kernel else ""
    picked = library.picked if library else None
    wrong = _wrong(picked, loaded, gpus, tables)
    by_cuda = returned(cuda, MISMATCH)
    said = nvml is not None and nvml.state == "version-mismatch"
    if not wrong and not said and not by_cuda:
        return None
    have = picked.version if (wrong or by_cuda) and picked else (nvml.library_version if nvml else "")
    have = "" if by_cuda and loaded and same_driver(have or "0", loaded) else have
    message = _(
        "The container's driver library is {have}, but the host's kernel driver is {loaded}; both must be the same."
    ).format(have=have or _("of another version"), loaded=loaded or _("of another version"))
    evidence = (
        [Evidence(_("host's kernel driver {version}").format(version=loaded), kernel.source)]
        if kernel and loaded
        else []
    )
    if cuda is not None and by_cuda:
        evidence.append(says_cuda(cuda, tables))
    if picked is not None and (wrong or by_cuda):
        says = _("{path} ({origin}) is version {version}").format(
            path=picked.path, origin=picked.origin, version=picked.version or "?"
        )
        evidence.append(Evidence(says, library.source if library else ""))
    elif nvml is not None:
        evidence.append(Evidence(nvml.error or _("NVML reports a version mismatch"), nvml.source))
    fix = remedies.by_hand(
        _(
            "Use the host's libcuda: remove driver packages and the compat folder from the image, then start the container again"
        ),
        note=_("In LD_LIBRARY_PATH no folder named compat or stubs may come first."),
    )
    return Diagnosis(message, tuple(evidence), (fix,))


def _wrong(picked: Optional[LibraryFile], loaded: str, gpus: Optional[Gpus], tables: Tables) -> bool:
    if picked is None or not picked.version or not loaded or same_driver(picked.version, loaded):
        return False
    if picked.origin != "compat":
        return picked.origin in ("system", "image", "toolkit", "other")
    if any(consumer(tables, gpu) for gpu in gpus or ()):
        return False  # TFD224 names the reason
    return older(picked.version, loaded)  # a newer one is what cuda-compat is for
