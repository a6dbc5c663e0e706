"""TFD209 wsl-docker-toolkit-too-old-for-driver-555."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, NotApplicable, Severity
from tfdoctor.probes.nvml import Driver
from tfdoctor.probes.platform import Platform
from tfdoctor.rules import _log
from tfdoctor.rules._hints import older

FIRST_DRIVER = "555"


@rule("TFD209", Severity.ERROR)
def wsl_docker_toolkit_too_old_for_driver_555(
    log: LogMatch, platform: Optional[Platform], driver: Optional[Driver]
) -> Found:
    """The container toolkit under WSL2 is too old for Windows drivers from 555 on.

    ## What it is
    Windows drivers from 555 on need one more library, `libnvdxgdmal.so.1`. A container toolkit from before that does not
    mount it into containers, and CUDA fails there while it works in the distribution itself.

    ## How it shows
    - `CUDA_ERROR_NOT_FOUND: named symbol not found` (500) from cuInit, in a container only
    - it began with an update of the Windows driver

    ## How to be sure
    In the container `ls /usr/lib/wsl/drivers/*/libnvdxgdmal.so.1` finds nothing, and `nvidia-smi` shows driver 555 or newer.

    ## What to do
    - Docker Desktop on Windows: 4.31 or newer.
    - Docker inside the WSL2 distribution: nvidia-container-toolkit 1.14.4 or newer, then restart Docker.
    - Until then: a Windows driver below 555.
    - Linux, Windows containers, Kubernetes on Linux: does not arise.

    ## References
    - https://github.com/NVIDIA/nvidia-container-toolkit/issues/520
    - https://docs.docker.com/desktop/release-notes/#4310
    - https://github.com/tensorflow/tensorflow/issues/68711
    """
    if (platform is not None and not platform.wsl) or (driver is not None and older(driver.version, FIRST_DRIVER)):
        raise NotApplicable(_("not WSL, or a Windows driver before 555"))
    message = _(
        "The container lacks libnvdxgdmal.so.1, which Windows driver {have} (555 and newer) needs: the container toolkit is older."
    ).format(have=driver.version if driver else "555")
    evidence = [_log.line(log)]
    if driver is not None:
        evidence.append(Evidence(_("Windows driver {version}").format(version=driver.version), driver.source))
    fix = remedies.by_hand(
        _("Update Docker Desktop to 4.31 or newer, or nvidia-container-toolkit to 1.14.4 or newer"),
        ("apt-get", "install", "--only-upgrade", "nvidia-container-toolkit"),
        ("systemctl", "restart", "docker"),
        needs=("root",),
    )
    return Diagnosis(message, tuple(evidence), (fix,))
