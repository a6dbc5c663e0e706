"""TFD810 nccl-debug-only-timeout."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules import _log


@rule("TFD810", Severity.WARNING)
def nccl_debug_only_timeout(log: LogMatch) -> Found:
    """A collective timed out on this rank: another rank is slower, stuck or gone, and its log has the reason.

    ## What it is
    Every rank waits in a collective for the others. The one that reports the timeout is mostly healthy; the guilty one died of
    memory, waits for data, evaluates longer, or never started.

    ## How it shows
    - `Collective ops is aborted by: …`, `collective operation timed out`, a watchdog's message
    - `Connection closed by remote peer`, `Broken pipe` on the ranks that survived

    ## How to be sure
    The logs of all ranks, by time: the first error of any of them. A rank without any error but behind the others is the slow one
    (`py-spy dump --pid …` shows where it is).

    ## What to do
    - Everywhere: read every worker's own log first; kernel logs for the out-of-memory killer and Xids.
    - The same number of steps on all workers (`drop_remainder=True`, equal shards), checkpoints and evaluation on all or in one.
    - Kubernetes: `kubectl logs --previous` of each pod. Slurm: `srun --output=%t.log`; `sacct` for exit codes.

    ## References
    - https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
    """
    message = _("A collective timed out here because another worker was slower or gone; its own log has the reason.")
    fix = remedies.by_hand(_("Read the log of every worker, and find the first error by time"))
    return Diagnosis(message, (_log.line(log),), (fix,))
