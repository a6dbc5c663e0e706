"""TFD811 two-ranks-on-one-gpu."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, Severity
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules import _log


@rule("TFD811", Severity.ERROR)
def two_ranks_on_one_gpu(log: LogMatch, gpus: Optional[Gpus]) -> Found:
    """Two ranks of one job were put onto the same GPU, which NCCL does not allow.

    ## What it is
    Each process of a job must use another GPU. Without pinning, every process takes GPU 0 (TensorFlow even takes all of them).

    ## How it shows
    - `NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000`
    - `ncclInvalidUsage`

    ## How to be sure
    Print `CUDA_VISIBLE_DEVICES` and the local rank in each process. More processes than GPUs on a host give the same error.

    ## What to do
    - Horovod: `tf.config.set_visible_devices(gpus[hvd.local_rank()], 'GPU')` before anything else uses a GPU.
    - Own launchers: `CUDA_VISIBLE_DEVICES=$LOCAL_RANK` for each process.
    - Slurm: `--gpus-per-task=1`, or `--ntasks-per-node` equal to the GPUs. Kubernetes: one GPU per pod, or one process per GPU.
    - MIG: two instances of one GPU count as the same GPU for older NCCL releases.

    ## References
    - https://github.com/horovod/horovod/issues/3929
    - https://horovod.readthedocs.io/en/stable/tensorflow.html
    """
    message = _("Ranks {one} and {other} use the same GPU; each rank needs its own ({count} GPUs here).").format(
        one=_log.value(log, "one", "?"),
        other=_log.value(log, "other", "?"),
        count=len(gpus) if gpus is not None else "?",
    )
    evidence = [_log.line(log)]
    if gpus is not None:
        evidence.append(Evidence(_("{count} GPUs").format(count=len(gpus)), gpus.source))
    fix = remedies.by_hand(
        _("Give each process its own GPU by its local rank"),
        ("env", "CUDA_VISIBLE_DEVICES=LOCAL_RANK", "python", "PROGRAM.py"),
    )
    return Diagnosis(message, tuple(evidence), (fix,))
