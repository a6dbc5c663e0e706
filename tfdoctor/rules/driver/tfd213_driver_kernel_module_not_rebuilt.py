"""TFD213 driver-kernel-module-not-rebuilt."""

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
from tfdoctor.rules._hints import contained, on_wsl, same_driver, works


@rule("TFD213", Severity.ERROR, caused_by=("TFD202", "TFD212"), blocks=True)
def driver_kernel_module_not_rebuilt(
    machine: GpuMachine,
    platform: Optional[Platform],
    container: Optional[Container],
    nvml: Optional[Nvml],
    kernel: Optional[KernelDriver],
    module: Optional[KernelModuleFile],
    installed: Optional[InstalledDriver],
) -> Found:
    """The kernel module on disk is of another version than the driver's libraries, so that a reboot cannot help.

    ## What it is
    The libraries were updated and the module was not built again: the DKMS build failed, the package manager was
    interrupted (half-configured packages), or two sources of the driver are mixed (distribution, NVIDIA's repository, `.run` file).

    ## How it shows
    - `Failed to initialize NVML: Driver/library version mismatch`, also after a reboot
    - `kernel version A does not match DSO version B`
    - `dkms status` shows the old version, or none, for the running kernel

    ## How to be sure
    `modinfo -F version nvidia` differs from the number of `libcuda.so.*`. (Where it is the same, and only the loaded version
    in `/proc/driver/nvidia/version` is old, a reboot is enough: TFD202.)

    ## What to do
    - Ubuntu, Debian: `dpkg --configure -a`, `apt-get -f install`, then `dkms autoinstall` and reboot; read DKMS's `make.log`
      when the build fails.
    - RHEL, Fedora, SUSE, Arch: install module and libraries from the same source in the same version, build, reboot.
    - Mixed sources: remove everything of NVIDIA's, then install from one.
    - Docker, Kubernetes: on the host. WSL2, Windows: does not arise.

    ## References
    - https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/
    - https://github.com/tensorflow/tensorflow/issues/1158
    """
    if (
        contained(container)
        or on_wsl(platform)
        or works(nvml)
        or module is None
        or not module.path
        or not module.version
    ):
        return None
    versions = sorted(installed.library_versions) if installed else []
    if not versions or any(same_driver(version, module.version) for version in versions):
        return None
    loaded = kernel.loaded_version if kernel else ""
    if loaded and any(same_driver(version, loaded) for version in versions):
        return None  # what is loaded fits; the file was changed since and is the next boot's trouble
    message = _(
        "The kernel module on disk is {module}, but the driver's libraries are {libraries}: it was not built again."
    ).format(module=module.version, libraries=", ".join(versions))
    evidence = (
        Evidence(_("module {version}").format(version=module.version), module.path),
        Evidence(_("libraries {version}").format(version=", ".join(versions)), installed.source if installed else ""),
    )
    fixes = [remedies.rebuild_driver(platform), remedies.reboot()]
    if installed is not None and installed.unfinished:
        message += " " + _("Half-installed packages: {packages}.").format(packages=", ".join(installed.unfinished))
        fixes.insert(
            0,
            remedies.by_hand(_("Finish the interrupted installation"), ("dpkg", "--configure", "-a"), needs=("root",)),
        )
    return Diagnosis(message, evidence, tuple(fixes))
