"""TFD218 docker-snap."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, NotApplicable, Severity
from tfdoctor.probes.platform import Platform
from tfdoctor.rules import _log


@rule("TFD218", Severity.ERROR)
def docker_snap(log: LogMatch, platform: Optional[Platform]) -> Found:
    """Docker was installed as a snap, which does not see the host's NVIDIA driver.

    ## What it is
    A snap runs confined: the Docker daemon in it does not see the driver's libraries and NVIDIA's container toolkit of the
    host. Its own NVIDIA support was made for Ubuntu Core.

    ## How it shows
    - `could not select device driver "" with capabilities: [[gpu]]` although nvidia-container-toolkit is installed
    - `nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file`
    - nvidia-smi works on the host

    ## How to be sure
    `snap list docker` shows it, or `docker info` names a root directory below `/var/snap/docker`.

    ## What to do
    - Ubuntu: `snap remove docker` (its images and volumes go with it: save them first), install Docker's own packages and
      nvidia-container-toolkit, then `nvidia-ctk runtime configure --runtime=docker` and restart Docker.
    - Other systems, Kubernetes, WSL2 with Docker Desktop: does not arise.

    ## References
    - https://github.com/canonical/docker-snap/issues/148
    - https://docs.docker.com/engine/install/ubuntu/
    - https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html
    """
    if platform is not None and platform.system != "linux":
        raise NotApplicable(_("snaps are for Linux"))
    message = _("Docker runs as a snap and cannot reach the host's NVIDIA driver; Docker's own packages can.")
    fix = remedies.by_hand(
        _("Replace the snap by Docker's own packages"),
        ("snap", "remove", "docker"),
        ("apt-get", "install", "docker-ce", "nvidia-container-toolkit"),
        ("nvidia-ctk", "runtime", "configure", "--runtime=docker"),
        ("systemctl", "restart", "docker"),
        note=_("Removing the snap removes its images and volumes. docker-ce is in Docker's own repository."),
        needs=("root",),
    )
    return Diagnosis(message, (_log.line(log),), (fix,))
