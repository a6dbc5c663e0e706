"""TFD615 gpu-busy-by-other-process."""

from __future__ import annotations

from collections.abc import Iterator

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.tables import Tables


@rule("TFD615", Severity.INFO)
def gpu_busy_by_other_process(machine: GpuMachine, gpus: Gpus, tables: Tables) -> Found:
    """Another process computes on the GPU.

    ## What it is
    Programs share a GPU by taking turns. A second one slows both down, so what is measured now says nothing about the
    machine. It is no fault in itself: the other one may be your own training.

    ## How it shows
    - Training is slower than before, step times vary
    - `nvidia-smi` shows utilisation before the program starts

    ## How to be sure
    `nvidia-smi --query-gpu=index,utilization.gpu --format=csv -l 1` for some seconds, with your program stopped, and the list
    of processes.

    ## What to do
    - Linux, WSL2, Windows: wait, or choose an idle GPU with `CUDA_VISIBLE_DEVICES=N`.
    - Docker, Kubernetes: processes of other containers are not listed inside; look on the host, or give each container a
      GPU of its own.
    - Slurm: ask for a GPU of your own; time-sliced or MPS partitions share on purpose.
    - macOS: does not arise.

    ## References
    - https://docs.nvidia.com/deploy/nvidia-smi/index.html
    """
    return list(_busy(gpus, tables.threshold("gpu-busy-before-start").value))


def _busy(gpus: Gpus, limit: float) -> Iterator[Diagnosis]:
    for gpu in gpus:
        working = [process for process in gpu.processes or () if process.kind == "compute"]
        if gpu.utilization is None or gpu.utilization <= limit or not working:
            continue
        yield Diagnosis(
            _("{gpu} is {percent} % busy with another process ({name}).").format(
                gpu=gpu.label, percent=gpu.utilization, name=working[0].name or "?"
            ),
            evidence=(Evidence(_("utilisation {percent} %").format(percent=gpu.utilization), gpus.source),),
            fixes=(remedies.by_hand(_("Wait, or choose another GPU with CUDA_VISIBLE_DEVICES")),),
            gpus=() if len(gpus) == 1 else (gpu.index,),
        )
