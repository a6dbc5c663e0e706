"""TFD801 shm-full-of-stale-segments."""

from __future__ import annotations

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Safety, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.platform import Shm
from tfdoctor.tables import Tables


@rule("TFD801", Severity.WARNING)
def shm_full_of_stale_segments(machine: GpuMachine, shm: Shm, tables: Tables) -> Found:
    """Shared memory is full of NCCL's segments whose processes are gone.

    ## What it is
    NCCL exchanges data between processes through files in `/dev/shm`. A job that was killed leaves them behind, and they hold
    memory until somebody removes them. In the end new jobs cannot create theirs.

    ## How it shows
    - `NCCL WARN Call to posix_fallocate failed : No space left on device`
    - `NCCL WARN Error while creating shared memory segment /dev/shm/nccl-…`
    - the same job works after a reboot

    ## How to be sure
    `df -h /dev/shm` and `ls -l /dev/shm/nccl-*`; `fuser /dev/shm/nccl-*` finds no process for the old ones. A small `/dev/shm` that is empty
    is TFD802.

    ## What to do
    - Linux: remove the files whose processes are gone.
    - Docker, Kubernetes: the container's own `/dev/shm` goes with it; with `--ipc=host` it is the host's.
    - Slurm: an epilogue that cleans up after each job. WSL2: as on Linux. Windows, macOS: does not arise.

    ## References
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
    """
    if not shm.stale:
        return None
    scarce = shm.free <= tables.threshold("shm-docker-default").value
    message = _(
        "{count} NCCL segments of processes that are gone hold {held} MiB of /dev/shm; {free} of {total} MiB are free."
    ).format(
        count=len(shm.stale), held=shm.stale_bytes // 1024**2, free=shm.free // 1024**2, total=shm.total // 1024**2
    )
    evidence = (Evidence(_("{count} files nccl-* without a process").format(count=len(shm.stale)), shm.source),)
    fix = Fix(
        _("Remove the segments"),
        (("rm", *shm.stale),),
        Safety.ASK,
        note=_("Only while no NCCL job of yours is starting."),
        deletes=shm.stale,
    )
    return Diagnosis(message, evidence, (fix,), None if scarce else Severity.INFO)
