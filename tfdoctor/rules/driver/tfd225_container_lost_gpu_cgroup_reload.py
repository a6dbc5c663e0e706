"""TFD225 container-lost-gpu-cgroup-reload."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Nvml
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import contained, forbidden_by_cgroup, on_wsl, works


@rule("TFD225", Severity.ERROR, caused_by=("TFD221",), blocks=True)
def container_lost_gpu_cgroup_reload(
    machine: GpuMachine,
    platform: Optional[Platform],
    container: Optional[Container],
    nodes: Optional[DeviceNodes],
    nvml: Optional[Nvml],
) -> Found:
    """The container still has the GPU's device nodes, but the kernel no longer lets it open them.

    ## What it is
    A container may open only devices that its device cgroup lists. When systemd manages the cgroups and reloads its units
    (`systemctl daemon-reload`, many package updates), it writes the lists anew, without the GPUs that NVIDIA's hook had added
    behind its back. Every GPU container on the host loses its GPUs at that moment.

    ## How it shows
    - `Failed to initialize NVML: Unknown Error` in a container that worked before; the host's nvidia-smi works
    - CUDA programs that already ran go on, new ones find no device

    ## How to be sure
    `/dev/nvidia0` exists in the container and opening it fails with `Operation not permitted`. On the host, a
    `daemon-reload` right before: `journalctl | grep -i reloading`.

    ## What to do
    - Docker, podman: start the container again. For good: `nvidia-ctk system create-dev-char-symlinks --create-all` with a
      udev rule, or CDI (`--device nvidia.com/gpu=all`), or name the nodes with `--device`, or the cgroupfs driver.
    - Kubernetes: delete the pod. The GPU operator and newer device plugins pass the nodes in a lasting way.
    - LXC: `lxc.cgroup2.devices.allow = c 195:* rwm` (and nvidia-uvm's number) in the container's configuration.
    - WSL2, Windows: does not arise.

    ## References
    - https://github.com/NVIDIA/nvidia-docker/issues/1730
    - https://github.com/NVIDIA/nvidia-container-toolkit/issues/1227
    - https://github.com/NVIDIA/nvidia-container-toolkit/issues/251
    """
    if not contained(container) or on_wsl(platform) or works(nvml) or nodes is None:
        return None
    needed = [n for n in (nodes.get("/dev/nvidiactl"), *nodes.gpus) if n is not None]
    closed = [n for n in needed if forbidden_by_cgroup(n)]
    if not closed or (nodes.gpus and not all(forbidden_by_cgroup(n) for n in nodes.gpus)):
        return None
    message = _(
        "The container has {path}, but the kernel refuses to open it ({error}): the device cgroup does not list it."
    ).format(path=closed[0].path, error=closed[0].error)
    evidence = [Evidence(_("{path}: {error}").format(path=n.path, error=n.error), nodes.source) for n in closed]
    if nvml is not None:
        evidence.append(Evidence(nvml.error or nvml.state, nvml.source))
    note = _("It happens again at the next reload of systemd on the host unless CDI or /dev/char links are used.")
    fix = remedies.by_hand(_("Start the container again"), ("docker", "restart", "CONTAINER"), note=note)
    return Diagnosis(message, tuple(evidence), (fix,))
