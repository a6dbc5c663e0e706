"""TFD219 docker-nvidia-toolkit-missing."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.probes.platform import Platform
from tfdoctor.rules import _log

_INSTALL = {
    "fedora": ("dnf", "install", "nvidia-container-toolkit"),
    "rhel": ("dnf", "install", "nvidia-container-toolkit"),
    "suse": ("zypper", "install", "nvidia-container-toolkit"),
    "arch": ("pacman", "-S", "nvidia-container-toolkit"),
}


@rule("TFD219", Severity.ERROR, caused_by=("TFD218",))
def docker_nvidia_toolkit_missing(log: LogMatch, platform: Optional[Platform]) -> Found:
    """Docker was asked for a GPU, and NVIDIA's container toolkit is not installed or not configured on the host.

    ## What it is
    `docker run --gpus` needs a helper on the host that puts the device nodes and the driver's libraries into the
    container: the package nvidia-container-toolkit. The image does not bring it.

    ## How it shows
    - `docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]]`
    - `unknown or invalid runtime name: nvidia`
    - `unresolvable CDI devices nvidia.com/gpu=all` with podman or CDI

    ## How to be sure
    On the host: `nvidia-smi` works, `nvidia-ctk --version` is not found, or `docker info` lists no runtime `nvidia`.

    ## What to do
    - Linux: add NVIDIA's repository, install nvidia-container-toolkit, `nvidia-ctk runtime configure --runtime=docker`,
      restart Docker. Rootless Docker: `--config=$HOME/.config/docker/daemon.json`.
    - podman: `nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml`.
    - WSL2: Docker Desktop has it built in; Docker inside the distribution needs the package as on Linux.
    - Kubernetes: the runtime of each node (containerd, CRI-O) is configured likewise, and the device plugin installed.
    - Windows containers, macOS: no NVIDIA GPUs.

    ## References
    - https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html
    - https://github.com/TorchDSP/torchsig/issues/329
    """
    message = _(
        "Docker found no GPU driver to use: NVIDIA's container toolkit is not installed or not configured on the host."
    )
    install = _INSTALL.get(remedies.distro_family(platform), ("apt-get", "install", "nvidia-container-toolkit"))
    fix = remedies.by_hand(
        _("Install and configure NVIDIA's container toolkit on the host"),
        install,
        ("nvidia-ctk", "runtime", "configure", "--runtime=docker"),
        ("systemctl", "restart", "docker"),
        note=_("The package is in NVIDIA's own repository, which its installation guide tells how to add."),
        needs=("root",),
    )
    return Diagnosis(message, (_log.line(log),), (fix,))
