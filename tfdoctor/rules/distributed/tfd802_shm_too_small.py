"""TFD802 shm-too-small."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus, Topology
from tfdoctor.probes.platform import Shm
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import contained, visible
from tfdoctor.tables import Tables


@rule("TFD802", Severity.WARNING, caused_by=("TFD801",))
def shm_too_small(
    machine: GpuMachine,
    shm: Shm,
    gpus: Gpus,
    tables: Tables,
    topology: Optional[Topology],
    container: Optional[Container],
    environment: Optional[Environment],
    smoke: Optional[SmokeResults],
) -> Found:
    """Shared memory (/dev/shm) is too small for NCCL between several GPUs.

    ## What it is
    GPUs that cannot reach each other directly exchange data through `/dev/shm`. Docker gives a container 64 MiB of it, Kubernetes too.
    NCCL needs tens of MiB for each pair of neighbours.

    ## How it shows
    - `NCCL WARN Error: failed to extend /dev/shm/nccl-… to 33030528 bytes`, `No space left on device`
    - `unhandled system error` from NCCL; Bus error in data loaders
    - other ranks report closed connections afterwards

    ## How to be sure
    `df -h /dev/shm` inside the container. A large one that is full is TFD801.

    ## What to do
    - Docker: `--shm-size=1g --ulimit memlock=-1`, or `--ipc=host`. compose: `shm_size: 1gb`.
    - Kubernetes: an `emptyDir` with `medium: Memory` mounted at `/dev/shm`.
    - Singularity and Apptainer use the host's. Slurm with pyxis: the host's unless mounted otherwise.
    - Linux without a container: `mount -o remount,size=8G /dev/shm`. One GPU: does not matter. Windows: does not arise.

    ## References
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
    - https://github.com/NVIDIA/nccl/issues/290
    """
    least = tables.threshold("shm-docker-default")
    used = visible(gpus, environment)
    proven = smoke is not None and smoke.confirmation("shm-too-small") is not None
    if len(used) < 2 or (shm.total > least.value and not proven):
        return None
    direct = (
        topology is not None
        and bool(topology.p2p)
        and all(topology.p2p.get((a.index, b.index)) == "OK" for a in used for b in used if a.index < b.index)
    )
    text = _("/dev/shm has {have} MiB, and AllReduce between {count} GPUs works only without it (NCCL_SHM_DISABLE=1).")
    if not proven:
        text = _("/dev/shm has {have} MiB, and NCCL between {count} GPUs needs more than {least} MiB.")
    message = text.format(have=shm.total // 1024**2, count=len(used), least=int(least.value) // 1024**2)
    evidence = (
        Evidence(_("size {have} MiB").format(have=shm.total // 1024**2), shm.source),
        Evidence(least.why, least.source),
    )
    return Diagnosis(message, evidence, (_enlarge(container),), _severity(proven, direct))


def _severity(proven: bool, direct: bool) -> Optional[Severity]:
    """Seen to fail, an error; GPUs that reach each other directly hardly use it."""
    return Severity.ERROR if proven else Severity.INFO if direct else None


def _enlarge(container: Optional[Container]) -> Fix:
    if container is not None and container.kind == "kubernetes":
        return remedies.by_hand(_('Mount an emptyDir with "medium: Memory" at /dev/shm'))
    if contained(container):
        return remedies.by_hand(
            _("Start the container with more shared memory"),
            ("docker", "run", "--gpus", "all", "--shm-size=1g", "IMAGE"),
        )
    return remedies.by_hand(_("Enlarge /dev/shm"), ("mount", "-o", "remount,size=8G", "/dev/shm"), needs=("root",))
