"""TFD208 wsl2-host-regression."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, NotApplicable, Severity
from tfdoctor.probes.nvml import Driver
from tfdoctor.probes.platform import Platform
from tfdoctor.rules import _log


@rule("TFD208", Severity.ERROR)
def wsl2_host_regression(log: LogMatch, platform: Optional[Platform], driver: Optional[Driver]) -> Found:
    """A Windows build or Windows driver broke the GPU under WSL2: every CUDA program fails there.

    ## What it is
    Under WSL2 the GPU is reached through Windows. Some Windows preview builds and some driver releases broke that path for
    all Linux programs at once. Nothing inside the distribution is at fault, and nothing there can repair it.

    ## How it shows
    - `CUDA_ERROR_DEVICE_UNAVAILABLE: CUDA-capable device(s) is/are busy or unavailable`, and nobody uses the GPU
    - beside it the harmless `could not open file to read NUMA node: /sys/bus/pci/devices/…/numa_node`
    - `nvidia-smi` works

    ## How to be sure
    Any other CUDA program fails too (PyTorch, a CUDA sample), and it began with an update of Windows or of the driver.
    `cat /proc/version` names microsoft. On Windows `winver` and `nvidia-smi` show the builds to look up.

    ## What to do
    - WSL2: `wsl --update`, `wsl --shutdown`; update Windows and its NVIDIA driver, or go back to the driver that worked.
    - Leave Windows preview channels on machines that must work.
    - Linux, Windows without WSL, macOS: does not arise.

    ## References
    - https://github.com/microsoft/WSL/issues/6014
    - https://docs.nvidia.com/cuda/wsl-user-guide/index.html
    """
    if platform is not None and not platform.wsl:
        raise NotApplicable(_("this is not WSL"))
    message = _(
        "CUDA fails under WSL2 although the GPU is idle: the Windows build or its driver ({driver}) broke it."
    ).format(driver=driver.version if driver else _("version not known"))
    evidence = [_log.line(log)]
    if driver is not None:
        evidence.append(Evidence(_("Windows driver {version}").format(version=driver.version), driver.source))
    fix = remedies.by_hand(
        _("Update WSL, then Windows's NVIDIA driver"),
        ("wsl.exe", "--update"),
        ("wsl.exe", "--shutdown"),
        needs=("new shell",),
    )
    return Diagnosis(message, tuple(evidence), (fix,))
