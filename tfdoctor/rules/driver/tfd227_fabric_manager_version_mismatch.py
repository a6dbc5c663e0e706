"""TFD227 fabric-manager-version-mismatch."""

from __future__ import annotations

import re
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.fabric import Fabric
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.nvml import Driver, Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import contained, same_driver


@rule("TFD227", Severity.ERROR, blocks=True)
def fabric_manager_version_mismatch(
    machine: GpuMachine,
    fabric: Optional[Fabric],
    driver: Optional[Driver],
    kernel: Optional[KernelDriver],
    gpus: Optional[Gpus],
    container: Optional[Container],
    platform: Optional[Platform],
) -> Found:
    """The fabric manager is of another version than the driver, so that it refuses to start the NVSwitches.

    ## What it is
    On machines with NVSwitch (HGX, DGX) the service nvidia-fabricmanager joins the GPUs before CUDA may start. It compares its
    own version with the kernel driver's and stops when they differ, in the last number too.

    ## How it shows
    - `CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized` (802)
    - `journalctl -u nvidia-fabricmanager`: the fabric manager and the driver versions do not match
    - it began with a driver update

    ## How to be sure
    `nv-fabricmanager --version` (or the package's version) against `cat /proc/driver/nvidia/version`.

    ## What to do
    - Ubuntu, Debian: `nvidia-fabricmanager-BRANCH` (from 580 on `nvidia-fabricmanager`) in exactly the driver's version; then
      `systemctl restart nvidia-fabricmanager`, or reboot.
    - RHEL and relatives: the same package name from NVIDIA's repository, from the same module stream.
    - Hold both packages together. Kubernetes: the GPU operator brings a matching one.
    - Machines without NVSwitch: does not arise.

    ## References
    - https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html
    - https://github.com/ollama/ollama/issues/12136
    """
    if fabric is None or not fabric.version or contained(container):
        return None
    loaded = (kernel.loaded_version if kernel else "") or (driver.version if driver else "")
    have = _plain(fabric.version)
    if not loaded or not have or same_driver(have, loaded):
        return None
    if fabric.running and any(g.fabric_state == "completed" for g in gpus or ()):
        return None  # it runs and has done its work: the package on disk is newer than the process
    message = _(
        "The fabric manager is {have}, but the driver is {driver}; both must be the same for the {switches} NVSwitches to start."
    ).format(have=have, driver=loaded, switches=fabric.switches)
    evidence = (
        Evidence(_("fabric manager {version}").format(version=fabric.version), fabric.source),
        Evidence(
            _("driver {version}").format(version=loaded), kernel.source if kernel else (driver.source if driver else "")
        ),
    )
    return Diagnosis(message, evidence, (install_fabric_manager(platform, loaded),))


def install_fabric_manager(platform: Optional[Platform], driver: str) -> Fix:
    """Install the fabric manager of exactly the driver's version and start it."""
    branch = driver.split(".")[0]
    name = f"nvidia-fabricmanager-{branch}" if branch.isdigit() and int(branch) < 580 else "nvidia-fabricmanager"
    if remedies.distro_family(platform) in ("rhel", "fedora"):
        install = ("dnf", "install", f"nvidia-fabric-manager-{driver}")
    else:
        install = ("apt-get", "install", f"{name}={driver}-*")
    start = ("systemctl", "enable", "--now", "nvidia-fabricmanager")
    title = _("Install fabric manager {version} and start it").format(version=driver)
    return remedies.by_hand(
        title, install, start, note=_("Hold it together with the driver packages."), needs=("root",)
    )


def _plain(version: str) -> str:
    """The version without the package's revision: 570.133.20 of 570.133.20-1."""
    found = re.search(r"[0-9]{3}(?:\.[0-9]+)+", version)
    return found.group(0) if found else ""
