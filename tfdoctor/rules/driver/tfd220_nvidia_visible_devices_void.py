"""TFD220 nvidia-visible-devices-void."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container, Job
from tfdoctor.rules._hints import contained, job_without_gpu, no_gpu_nodes

NAME = "NVIDIA_VISIBLE_DEVICES"


@rule("TFD220", Severity.ERROR, blocks=True)
def nvidia_visible_devices_void(
    platform: Platform,
    container: Optional[Container],
    environment: Optional[Environment],
    nodes: Optional[DeviceNodes],
    job: Optional[Job],
) -> Found:
    """The container runs with NVIDIA_VISIBLE_DEVICES set so that no GPU is put into it.

    ## What it is
    NVIDIA's container runtime reads `NVIDIA_VISIBLE_DEVICES` when a container starts: `all`, numbers or UUIDs pass those
    GPUs in; `void` and an empty value pass nothing; `none` passes the driver without a GPU. Kubernetes sets `void` for
    pods that asked for no GPU. Changing it inside a running container does nothing.

    ## How it shows
    - `failed call to cuInit: CUDA_ERROR_NO_DEVICE`, `Could not find cuda drivers on your machine`
    - no `/dev/nvidia0` in the container while the host's nvidia-smi works

    ## How to be sure
    In the container `echo $NVIDIA_VISIBLE_DEVICES` and `ls /dev/nvidia*`. With CDI the value may be `void` although GPUs
    were passed in: then the nodes exist and nothing is wrong.

    ## What to do
    - Docker: `docker run --gpus all …`; with compose `deploy.resources.reservations.devices`. Do not override the variable.
    - podman: `--device nvidia.com/gpu=all`.
    - Kubernetes: `resources.limits: {nvidia.com/gpu: 1}`.
    - Slurm with containers (pyxis, enroot): ask for `--gres=gpu:1`. Outside containers the variable means nothing.

    ## References
    - https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
    """
    if not contained(container) or environment is None or NAME not in environment.variables or job_without_gpu(job):
        return None
    value = environment.variables[NAME]
    if value.strip().lower() not in ("", "void", "none") or not no_gpu_nodes(nodes):
        return None
    message = _('{name} is "{value}" in this container, and no GPU was put into it.').format(name=NAME, value=value)
    evidence = (
        Evidence(f"{NAME}={value}", environment.source),
        Evidence(_("no /dev/nvidia0 and no /dev/dxg"), nodes.source if nodes else "/dev"),
    )
    return Diagnosis(message, evidence, (remedies.container_with_gpus(container.kind if container else ""),))
