"""TFD815 gpus-differ-for-mirrored-strategy."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.rules._hints import GIB, visible
from tfdoctor.tables import Tables


@rule("TFD815", Severity.WARNING)
def gpus_differ_for_mirrored_strategy(
    machine: GpuMachine, gpus: Gpus, tables: Tables, environment: Optional[Environment]
) -> Found:
    """The GPUs differ in model or memory, so that the slowest sets the pace of MirroredStrategy and the smallest its batch.

    ## What it is
    Synchronous training gives every GPU the same share of the batch and waits for all of them. A small display card beside a large one makes the large
    one wait, and its memory bounds the batch. Separate programs on separate GPUs are not concerned.

    ## How it shows
    - two GPUs are hardly faster than one, or slower; the fast one is often idle
    - `RESOURCE_EXHAUSTED` on the smaller card only

    ## How to be sure
    `nvidia-smi --query-gpu=index,name,memory.total,compute_cap --format=csv`.

    ## What to do
    - Everywhere: `CUDA_DEVICE_ORDER=PCI_BUS_ID` and `CUDA_VISIBLE_DEVICES` with the equal ones, or `MirroredStrategy(devices=[…])`.
    - Slurm: ask for a type (`--gres=gpu:a100:2`). Kubernetes: a node selector. Cloud: machine types are uniform.
    - Keep the small card for the display.

    ## References
    - https://www.tensorflow.org/guide/distributed_training#mirroredstrategy
    - https://www.tensorflow.org/guide/gpu
    """
    used = tuple(g for g in visible(gpus, environment) if not g.lost)
    if len(used) < 2 or any(g.mig for g in used):
        return None
    share = tables.threshold("memory-differs").value
    first = used[0]
    other = next((g for g in used[1:] if _differ(first, g, share)), None)
    if other is None:
        return None
    message = _(
        "{one} ({one_memory}) and {other} ({other_memory}) differ; MirroredStrategy runs at the pace of the slower and with the memory of the smaller."
    ).format(one=first.label, one_memory=_memory(first), other=other.label, other_memory=_memory(other))
    evidence = tuple(Evidence(f"{g.label}: {g.compute_capability}, {_memory(g)}", gpus.source) for g in used)
    same = max(
        (tuple(g for g in used if not _differ(one, g, share)) for one in used),
        key=lambda group: (len(group), group[0].memory_total or 0),
    )
    note = _("With CUDA_DEVICE_ORDER=PCI_BUS_ID, so that the numbers are those of nvidia-smi.")
    fix = remedies.variable("CUDA_VISIBLE_DEVICES", ",".join(str(g.index) for g in same), note=note)
    return Diagnosis(message, evidence, (fix,), gpus=tuple(g.index for g in used))


def _differ(one: Gpu, other: Gpu, share: float) -> bool:
    if one.name != other.name:
        return True
    if one.memory_total is None or other.memory_total is None:
        return False
    return abs(one.memory_total - other.memory_total) > share * max(one.memory_total, other.memory_total)


def _memory(gpu: Gpu) -> str:
    return _("memory not told") if gpu.memory_total is None else f"{gpu.memory_total / GIB:.0f} GiB"
