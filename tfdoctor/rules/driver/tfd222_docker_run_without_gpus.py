"""TFD222 docker-run-without-gpus."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import contained, no_gpu_nodes, not_loaded


@rule("TFD222", Severity.ERROR, caused_by=("TFD220", "TFD221"), blocks=True)
def docker_run_without_gpus(
    platform: Platform,
    machine: Optional[GpuMachine],
    container: Optional[Container],
    nodes: Optional[DeviceNodes],
    kernel: Optional[KernelDriver],
) -> Found:
    """The container was started without the host's GPUs.

    ## What it is
    A container sees the host's PCI bus and often its kernel driver, but no device node and no libcuda unless it was
    started with GPUs. The TensorFlow GPU images bring CUDA and cuDNN; the driver's part comes from the host, and only then.

    ## How it shows
    - `failed call to cuInit: UNKNOWN ERROR (303)`, `Could not find cuda drivers on your machine`
    - `CUDA driver version is insufficient for CUDA runtime version`
    - NGC images greet with `WARNING: The NVIDIA Driver was not detected`
    - no `/dev/nvidia0` in the container, and nvidia-smi is not found there while it works on the host

    ## How to be sure
    In the container `ls /dev/nvidia* /dev/dxg` finds nothing; on the host `nvidia-smi` works.

    ## What to do
    - Docker: `docker run --gpus all …` (or `--gpus '"device=0,1"'`). compose: `deploy.resources.reservations.devices` with
      `driver: nvidia`, `capabilities: [gpu]`. VS Code dev containers: `"runArgs": ["--gpus", "all"]`.
    - podman: `--device nvidia.com/gpu=all`. Singularity and Apptainer: `--nv`. LXC: add a device of type gpu.
    - Kubernetes: `resources.limits: {nvidia.com/gpu: 1}`. Slurm with pyxis: `--gres=gpu:1`.
    - WSL2: Docker Desktop passes `/dev/dxg` with `--gpus all` too.

    ## References
    - https://docs.docker.com/engine/containers/gpu/
    - https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
    - https://www.tensorflow.org/install/docker
    """
    if not contained(container) or not no_gpu_nodes(nodes) or (machine is None and not platform.wsl):
        return None
    if not platform.wsl and not_loaded(kernel):
        return None  # the host's own driver is not loaded: TFD238 says so
    kind = container.kind if container else ""
    message = _(
        "This {kind} container was started without the host's GPUs: there is neither /dev/nvidia0 nor /dev/dxg in it."
    ).format(kind=kind)
    evidence = [Evidence(_("no device node of a GPU"), nodes.source if nodes else "/dev")]
    if machine is not None:
        evidence.append(Evidence(_("the host has one: {evidence}").format(evidence=machine.evidence), machine.source))
    return Diagnosis(message, tuple(evidence), (remedies.container_with_gpus(kind),))
