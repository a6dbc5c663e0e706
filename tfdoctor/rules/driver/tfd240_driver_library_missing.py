"""TFD240 driver-library-missing."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, NotApplicable, Severity
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.libraries import DriverLibrary
from tfdoctor.probes.nvml import Driver, Nvml
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import contained, on_wsl, starts, works
from tfdoctor.tables import driver_branch_of

CAPABILITIES = "NVIDIA_DRIVER_CAPABILITIES"

#: distribution family -> the command that installs the driver's CUDA part; {branch} is the driver's ("550").
_PACKAGES = {
    "ubuntu": ("apt-get", "install", "libnvidia-compute-{branch}"),
    "debian": ("apt-get", "install", "libcuda1"),
    "fedora": ("dnf", "install", "xorg-x11-drv-nvidia-cuda-libs"),
    "arch": ("pacman", "-S", "nvidia-utils"),
}


@rule("TFD240", Severity.ERROR, caused_by=("TFD222",), blocks=True)
def driver_library_missing(
    machine: GpuMachine,
    library: DriverLibrary,
    nvml: Optional[Nvml],
    cuda: Optional[CudaDriver],
    driver: Optional[Driver],
    environment: Optional[Environment],
    container: Optional[Container],
    platform: Optional[Platform],
) -> Found:
    """The driver works, but its CUDA library libcuda.so.1 is not found.

    ## What it is
    nvidia-smi needs only `libnvidia-ml.so.1`; CUDA programs need `libcuda.so.1`, which comes with the driver as well, often
    in a package of its own. In a container NVIDIA's toolkit mounts it only for the capability `compute`. A libcuda for
    32-bit programs does not count, and neither does one in a folder that the loader does not search.

    ## How it shows
    - `Could not load dynamic library 'libcuda.so.1'`, `failed call to cuInit: UNKNOWN ERROR (303)`
    - `Could not find cuda drivers on your machine, GPU will not be used.` while nvidia-smi lists the GPU

    ## How to be sure
    `ldconfig -p | grep 'libcuda.so.1 '` prints nothing, or only a line without `x86-64`; in a container `echo $NVIDIA_DRIVER_CAPABILITIES` does not
    name `compute` or `all`.

    ## What to do
    - Docker, Kubernetes: start the container with `NVIDIA_DRIVER_CAPABILITIES=compute,utility` (or `all`).
    - Ubuntu: `libnvidia-compute-BRANCH` of the driver's own branch. Debian: `libcuda1`. Fedora: `xorg-x11-drv-nvidia-cuda-libs`.
    - An installation from a `.run` file: run the same installer again, without `--no-` options.
    - A copy lies somewhere: put its folder into a file below `/etc/ld.so.conf.d` and run `ldconfig`.
    - WSL2: see wsl-libcuda-not-on-path. Windows, macOS: does not arise.

    ## References
    - https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
    - https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/
    """
    if on_wsl(platform):
        raise NotApplicable(_("under WSL2 the library is Windows's"))
    stub = library.picked if library.picked is not None and library.picked.origin == "stub" else None
    own = [copy for copy in library.others if copy.origin not in ("stub", "compat") and not copy.problem]
    if (library.picked is not None and (stub is None or own)) or not works(nvml) or starts(cuda):
        return None  # hidden by a stub: TFD239; a driver that does not come up: TFD238 or one of its causes
    evidence = [
        Evidence(_("the driver answers"), nvml.source if nvml else ""),
        Evidence(_("libcuda.so.1 is not on the loader's path"), library.source),
    ]
    asked = environment.get(CAPABILITIES) if environment else ""
    if contained(container) and asked and not {"compute", "all"} & {word.strip() for word in asked.split(",")}:
        message = _(
            '{name} is "{value}" in this container: without "compute" it has no libcuda.so.1, and CUDA cannot start.'
        ).format(name=CAPABILITIES, value=asked)
        evidence.append(Evidence(f"{CAPABILITIES}={asked}", environment.source if environment else ""))
        return Diagnosis(message, tuple(evidence), (_container_fix(),))
    message = _("The NVIDIA driver answers, but its library libcuda.so.1 is not found, so CUDA cannot start.")
    for copy in (stub,) if stub is not None else library.others[:1]:
        message = _(
            "The NVIDIA driver answers, but the loader does not find its libcuda.so.1, so CUDA cannot start; {path} is no use."
        ).format(path=copy.path)
    fix = _container_fix() if contained(container) else _install(platform, driver)
    return Diagnosis(message, tuple(evidence), (fix,))


def _container_fix() -> Fix:
    command = ("docker", "run", "--gpus", "all", "-e", f"{CAPABILITIES}=compute,utility", "IMAGE")
    return remedies.by_hand(_("Start the container with the driver's CUDA part"), command)


def _install(platform: Optional[Platform], driver: Optional[Driver]) -> Fix:
    """Of exactly the driver's version: another one would not work with the loaded kernel module."""
    branch = driver_branch_of(driver.version) if driver else None
    words = _PACKAGES.get(remedies.distro_family(platform), ())
    command = tuple(word.format(branch=branch or "BRANCH") for word in words)
    note = _("It must be of the driver's own version{version}.").format(version=f" {driver.version}" if driver else "")
    return remedies.by_hand(
        _("Install the driver's CUDA library"), *((command,) if command else ()), note=note, needs=("root",)
    )
