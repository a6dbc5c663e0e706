"""TFD604 compute-mode-exclusive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpu, Gpus


@rule("TFD604", Severity.ERROR, blocks=True)
def compute_mode_exclusive(machine: GpuMachine, gpus: Gpus) -> Found:
    """The GPU's compute mode lets no program, or only one program at a time, use it.

    ## What it is
    Each GPU has a compute mode. Default lets any number of programs share it. Exclusive process lets one process have a context,
    and every other one fails however much memory is free. Prohibited lets none. Operators of shared machines and
    schedulers set it; it survives until the driver is loaded anew.

    ## How it shows
    - `all CUDA-capable devices are busy or unavailable`, `CUDA_ERROR_DEVICE_UNAVAILABLE`, cudaError 46
    - `nvidia-smi` shows `E. Process` or `Prohibited` in place of `Default`, with memory to spare

    ## How to be sure
    `nvidia-smi --query-gpu=index,compute_mode --format=csv`, and its list of processes.

    ## What to do
    - Linux: stop the program that holds the GPU, or (root) `nvidia-smi -i N -c DEFAULT`. On a shared machine ask first.
    - A notebook kernel of your own that is still running counts as that program.
    - Several processes on purpose: the MPS service, which goes with exclusive mode.
    - Slurm: the mode may be set per job; use one process per GPU, or ask for GPUs in shared mode.
    - Docker, Kubernetes: set on the host. Windows: only in TCC mode. WSL2: as on Windows. macOS: does not arise.

    ## References
    - https://github.com/NVIDIA/DIGITS/issues/2005
    - https://docs.nvidia.com/deploy/mps/index.html
    """
    return list(_found(gpus))


def _found(gpus: Gpus) -> Iterator[Diagnosis]:
    prohibited = tuple(gpu for gpu in gpus if gpu.compute_mode == "prohibited")
    exclusive = tuple(gpu for gpu in gpus if gpu.compute_mode in ("exclusive-process", "exclusive-thread"))
    taken = tuple(gpu for gpu in exclusive if any(process.kind == "compute" for process in gpu.processes or ()))
    free = tuple(gpu for gpu in exclusive if gpu not in taken)
    if prohibited:
        yield _diagnosis(
            prohibited, gpus, _("{gpus} is in compute mode Prohibited, where Default is needed: no program can use it.")
        )
    if taken:
        yield _diagnosis(taken, gpus, _("{gpus} is in compute mode Exclusive Process, and a process has it already."))
    if free:
        text = _("{gpus} is in compute mode Exclusive Process: one process at a time can use it.")
        yield _diagnosis(free, gpus, text, Severity.INFO)


def _diagnosis(hit: tuple[Gpu, ...], gpus: Gpus, text: str, severity: Optional[Severity] = None) -> Diagnosis:
    return Diagnosis(
        text.format(gpus=", ".join(gpu.label for gpu in hit)),
        evidence=(Evidence(_("compute mode {mode}").format(mode=hit[0].compute_mode), gpus.source),),
        fixes=(_fix(hit),),
        severity=severity,
        gpus=() if len(hit) == len(gpus) else tuple(gpu.index for gpu in hit),
    )


def _fix(hit: tuple[Gpu, ...]) -> Fix:
    commands = tuple(("nvidia-smi", "-i", str(gpu.index), "-c", "DEFAULT") for gpu in hit)
    note = _("On a shared machine ask its operator first: the mode may be set on purpose.")
    return remedies.by_hand(_("Set the compute mode to Default"), *commands, note=note, needs=("root",))
