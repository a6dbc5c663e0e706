"""TFD809 nccl-ranks-configured-differently."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.rules import _log


@rule("TFD809", Severity.ERROR)
def nccl_ranks_configured_differently(log: LogMatch, environment: Optional[Environment]) -> Found:
    """The ranks of one job disagree: other NCCL versions, other settings, or another order of collectives.

    ## What it is
    NCCL expects every rank to call the same collectives with the same sizes, and to have chosen the same protocol. Different NCCL versions
    or `NCCL_*` variables per host, and programs that branch by rank, break that.

    ## How it shows
    - `NCCL WARN Message truncated : received 1024 bytes instead of 256`
    - `collective mismatch error`, `Mismatched collective detected`
    - a hang at the first collective

    ## How to be sure
    With `NCCL_DEBUG=INFO` compare on all ranks the lines `NCCL version …` and `… set by environment to …`.

    ## What to do
    - Everywhere: the same image or lock file on all hosts, the same `NCCL_*` variables (`mpirun -x`, `srun --export`), no collective in a branch by rank.
    - Kubernetes: one pod template for all workers. Slurm: modules loaded in the batch script, not in shell profiles.

    ## References
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    """
    message = _(
        "The ranks of this job do not agree on their NCCL collectives: other versions, settings or an other order of calls."
    )
    evidence = [_log.line(log)]
    for name in sorted(environment.variables) if environment else ():
        if name.startswith("NCCL_") and environment is not None:
            evidence.append(Evidence(f"{name}={environment.get(name)}", environment.source))
    fix = remedies.by_hand(
        _("Compare NCCL's version and variables on all ranks"), ("env", "NCCL_DEBUG=INFO", "python", "PROGRAM.py")
    )
    return Diagnosis(message, tuple(evidence), (fix,))
