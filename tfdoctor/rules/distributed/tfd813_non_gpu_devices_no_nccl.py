"""TFD813 non-gpu-devices-no-nccl."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, Severity
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules import _log


@rule("TFD813", Severity.WARNING)
def non_gpu_devices_no_nccl(log: LogMatch, gpus: Optional[Gpus]) -> Found:
    """The strategy runs over devices that are not GPUs, so that it does not use NCCL.

    ## What it is
    `MirroredStrategy` takes all GPUs that TensorFlow sees, and the CPU when it sees none. The line is then the consequence of another fault: TensorFlow
    sees no GPU. Only a program that names CPU devices on purpose means it.

    ## How it shows
    - `There are non-GPU devices in tf.distribute.Strategy, not using nccl allreduce.`
    - `Using MirroredStrategy with devices ('/job:localhost/replica:0/task:0/device:CPU:0',)`

    ## How to be sure
    `tf.config.list_physical_devices('GPU')` is empty in the same process.

    ## What to do
    - Everywhere: find why no GPU is seen: `tfdoctor check`, or the lines above this one in the log.
    - CPU on purpose: ignore it.

    ## References
    - https://www.tensorflow.org/guide/distributed_training
    - https://www.tensorflow.org/api_docs/python/tf/distribute/MirroredStrategy
    """
    count = len(gpus) if gpus is not None else None
    message = _("The strategy runs on the CPU and not on GPUs ({count} GPUs are in this machine).").format(
        count=count if count is not None else "?"
    )
    evidence = [_log.line(log)]
    if gpus is not None:
        evidence.append(Evidence(_("{count} GPUs").format(count=count), gpus.source))
    return Diagnosis(
        message, tuple(evidence), (remedies.by_hand(_("Find why TensorFlow sees no GPU"), ("tfdoctor", "check")),)
    )
