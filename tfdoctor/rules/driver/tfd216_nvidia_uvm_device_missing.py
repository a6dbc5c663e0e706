"""TFD216 nvidia-uvm-device-missing."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import InstalledDriver
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import contained, on_wsl, returned, says_cuda, starts
from tfdoctor.tables import Tables

UNKNOWN = 999  # CUDA_ERROR_UNKNOWN


@rule("TFD216", Severity.ERROR, blocks=True)
def nvidia_uvm_device_missing(
    machine: GpuMachine,
    platform: Optional[Platform],
    container: Optional[Container],
    nodes: Optional[DeviceNodes],
    installed: Optional[InstalledDriver],
    tables: Tables,
    cuda: Optional[CudaDriver],
) -> Found:
    """The device node /dev/nvidia-uvm is missing, and CUDA cannot start without it.

    ## What it is
    CUDA opens `/dev/nvidia-uvm` besides `/dev/nvidiactl` and `/dev/nvidia0`. The kernel does not make the node: a udev
    rule, the setuid program `nvidia-modprobe` or a first CUDA program run by root does. nvidia-smi does not need it.

    ## How it shows
    - `failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error` (999) while nvidia-smi works
    - PyTorch: `CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable CUDA_VISIBLE_DEVICES`
    - it works for root, and afterwards for everybody until the next boot

    ## How to be sure
    `ls -l /dev/nvidia*` shows `nvidia0` and `nvidiactl` but no `nvidia-uvm`; `lsmod | grep nvidia_uvm`.

    ## What to do
    - Linux: `nvidia-modprobe -c 0 -u` as root once, and install the package nvidia-modprobe so that it happens by itself.
    - LXC, podman, Docker with single `--device` options: pass `/dev/nvidia-uvm` and `/dev/nvidia-uvm-tools` as well; they must exist
      on the host before the container starts (`nvidia-modprobe -c 0 -u` at boot, or nvidia-persistenced).
    - Docker and Kubernetes with NVIDIA's toolkit: it passes the node by itself.
    - WSL2, Windows: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/394
    - https://github.com/tensorflow/tensorflow/issues/53341
    - https://github.com/NVIDIA/nvidia-modprobe
    """
    there = nodes is None or not nodes.gpus or nodes.get("/dev/nvidia-uvm") is not None
    if there or nodes is None or on_wsl(platform) or starts(cuda):
        return None
    evidence = [Evidence(_("{count} GPU nodes, no /dev/nvidia-uvm").format(count=len(nodes.gpus)), nodes.source)]
    failed = cuda is not None and returned(cuda, UNKNOWN)
    if cuda is not None and failed:
        evidence.append(says_cuda(cuda, tables))
    make = ("nvidia-modprobe", "-c", "0", "-u")
    if contained(container):
        message = _("{gpu} was passed into the container, but /dev/nvidia-uvm was not.").format(gpu=nodes.gpus[0].path)
        fix = remedies.by_hand(
            _("Make the node on the host, then pass /dev/nvidia-uvm and /dev/nvidia-uvm-tools into the container"),
            make,
            needs=("root",),
        )
        return Diagnosis(message, tuple(evidence), (fix,))
    if not failed and _makes_it(installed):
        return None
    message = _("/dev/nvidia-uvm does not exist, and CUDA cannot start without it.")
    if not failed:  # after every boot it is so until the first CUDA program: a udev rule may still make the node then
        message = _("/dev/nvidia-uvm does not exist yet, and nothing was seen that makes it when CUDA starts.")
    fix = remedies.by_hand(
        _("Make the node, and install nvidia-modprobe so that it is made by itself"),
        make,
        note=_(
            "Where nvidia-modprobe is not installed, `modprobe nvidia_uvm` and a CUDA program run by root make it too."
        ),
        needs=("root",),
    )
    return Diagnosis(message, tuple(evidence), (fix,), severity=None if failed else Severity.WARNING)


def _makes_it(installed: Optional[InstalledDriver]) -> bool:
    """nvidia-modprobe is there: it makes the node when the first CUDA program starts."""
    if installed is None:
        return False
    return bool(installed.modprobe) or any(name.startswith("nvidia-modprobe") for name in installed.packages)
