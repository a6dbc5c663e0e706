"""TFD610 gpu-memory-held-by-unlisted-process."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, NotApplicable, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.tables import Tables

MIB = 1024**2


@rule("TFD610", Severity.WARNING)
def gpu_memory_held_by_unlisted_process(
    machine: GpuMachine, gpus: Gpus, platform: Platform, tables: Tables, container: Optional[Container]
) -> Found:
    """GPU memory is in use, and the driver lists no process that holds it.

    ## What it is
    The list of processes holds those of this PID namespace. A process in another container, one that ended without
    releasing the GPU (a zombie, or one that hangs in the kernel), or children that a killed parent left behind do not
    appear, and their memory stays taken.

    ## How it shows
    - `nvidia-smi`: thousands of MiB in use, 0 % utilisation, an empty list of processes, or a row `C   Unknown Error`
    - TensorFlow: `CUDA_ERROR_OUT_OF_MEMORY` at the start, although nothing runs

    ## How to be sure
    As root on the host, outside of containers: `fuser -v /dev/nvidia*` lists who has the GPU open.

    ## What to do
    - Linux: end what `fuser` lists; parents in state `Z` or `D` in `ps aux` first. If nothing is left: reset the GPU
      (`nvidia-smi --gpu-reset -i N`, no program may use it), and reboot last.
    - Docker, Kubernetes: look on the host; another container has the GPU too.
    - Slurm: ask the operators to clean the node; an epilog that kills left-over processes prevents it.
    - Windows, WSL2: Windows never lists processes of WDDM GPUs; this says nothing there. macOS: does not arise.

    ## References
    - https://github.com/wencolani/CrossE/issues/2
    - https://docs.nvidia.com/deploy/nvidia-smi/index.html
    """
    # Windows lists no processes; where CPU and GPU share memory (GH200, Jetson) the system's own use counts.
    if platform.system != "linux" or platform.wsl or platform.machine == "aarch64":
        raise NotApplicable(_("the list of processes says nothing on this kind of machine"))
    limit = tables.threshold("gpu-memory-unlisted").value
    held = [gpu for gpu in gpus if _unlisted(gpu, limit)]
    inside = (
        _(" Processes of other containers are not listed here.") if container is not None and container.kind else ""
    )
    return [
        Diagnosis(
            _("{gpu}: {used} of {total} MiB are in use, and no process is listed.").format(
                gpu=gpu.label, used=(gpu.memory_used or 0) // MIB, total=(gpu.memory_total or 0) // MIB
            )
            + inside,
            evidence=(
                Evidence(
                    _("{used} MiB in use, empty list of processes").format(used=(gpu.memory_used or 0) // MIB),
                    gpus.source,
                ),
            ),
            fixes=(
                remedies.by_hand(
                    _("Look who has the GPU open, on the host"),
                    ("fuser", "-v", f"/dev/nvidia{gpu.index}"),
                    needs=("root",),
                ),
            ),
            gpus=() if len(gpus) == 1 else (gpu.index,),
        )
        for gpu in held
    ]


def _unlisted(gpu: Gpu, limit: float) -> bool:
    known_empty = gpu.processes is not None and not gpu.processes
    return known_empty and not gpu.mig and not gpu.display and (gpu.memory_used or 0) > limit
