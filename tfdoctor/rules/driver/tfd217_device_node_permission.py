"""TFD217 device-node-permission."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.device_nodes import DeviceNode, DeviceNodes
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import contained, permission_denied, starts


@rule("TFD217", Severity.ERROR, blocks=True)
def device_node_permission(
    machine: GpuMachine,
    nodes: Optional[DeviceNodes],
    container: Optional[Container],
    cuda: Optional[CudaDriver],
) -> Found:
    """This user may not open the GPU's device nodes.

    ## What it is
    CUDA opens `/dev/nvidiactl`, `/dev/nvidia0`… and `/dev/nvidia-uvm` as the user who runs it. By default everybody may;
    with `NVreg_DeviceFileMode=0660`, with udev rules, on shared machines and in containers that run as another user, only root or a
    group may.

    ## How it shows
    - `NvRmPrivate… Insufficient Permissions`, NVML: `Insufficient Permissions` (nvidia-smi exit code 4)
    - `failed call to cuInit: CUDA_ERROR_NO_DEVICE` for one user while root sees the GPU

    ## How to be sure
    `ls -l /dev/nvidia*` and `id`: the mode is 660 and the user is not in the group.

    ## What to do
    - Linux: `usermod -aG GROUP USER`, then log in again; or change `NVreg_DeviceFileMode` and `NVreg_DeviceFileGID`.
    - Docker, podman: `--group-add GROUP_ID`, or run as a user of that group. Rootless podman: `--group-add keep-groups`.
    - Kubernetes: `securityContext.supplementalGroups` with the group's number.
    - Slurm and other shared machines: the nodes open when a GPU is part of the job; otherwise ask whoever runs them.
    - WSL2, Windows: does not arise.

    ## References
    - https://download.nvidia.com/XFree86/Linux-x86_64/550.54.14/README/faq.html
    - https://docs.docker.com/reference/cli/docker/container/run/
    """
    if nodes is None or starts(cuda):
        return None
    needed = [nodes.get("/dev/nvidiactl"), nodes.get("/dev/nvidia-uvm")]
    closed = [n for n in needed if n is not None and permission_denied(n)]
    if not closed and nodes.gpus and all(permission_denied(n) for n in nodes.gpus):
        closed = list(nodes.gpus)
    if not closed:
        return None
    node = closed[0]
    message = _("This user may not open {path}: its mode is {mode} and it belongs to group {group}.").format(
        path=node.path, mode=f"{node.mode & 0o777:o}", group=node.group or node.gid
    )
    evidence = tuple(
        Evidence(
            _("{path}: mode {mode}, {error}").format(path=n.path, mode=f"{n.mode & 0o777:o}", error=n.error),
            nodes.source,
        )
        for n in closed
    )
    return Diagnosis(message, evidence, (_let_in(node, container),))


def _let_in(node: DeviceNode, container: Optional[Container]) -> Fix:
    group = node.group or str(node.gid)
    if contained(container):
        command = ("docker", "run", "--group-add", str(node.gid), "--gpus", "all", "IMAGE")
        return remedies.by_hand(_("Start the container with group {gid}").format(gid=node.gid), command)
    if node.gid == 0:
        note = _(
            "The nodes belong to root alone: set NVreg_DeviceFileMode=0666 (or a group) for the module nvidia, then reboot."
        )
        return remedies.by_hand(_("Open the device nodes to users"), note=note, needs=("root", "reboot"))
    title = _("Put the user into group {group}").format(group=group)
    return remedies.by_hand(title, ("usermod", "-aG", group, "USER"), needs=("root", "new shell"))
