"""TFD814 virtual-gpus-disable-nccl."""

from __future__ import annotations

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules import _log


@rule("TFD814", Severity.INFO)
def virtual_gpus_disable_nccl(log: LogMatch) -> Found:
    """The program split its GPUs into logical devices, and NCCL does not work on those: harmless.

    ## What it is
    `set_logical_device_configuration` makes several devices of one GPU, mostly to try distributed code with one card. NCCL wants whole GPUs, so that the
    strategy copies instead.

    ## How it shows
    - `NCCL is not supported when using virtual GPUs, falling back to reduction to one device`

    ## How to be sure
    `tf.config.list_logical_devices('GPU')` is longer than `tf.config.list_physical_devices('GPU')`.

    ## What to do
    - Nothing, if the split is meant. Otherwise remove `set_logical_device_configuration` (older: `set_virtual_device_configuration`).

    ## References
    - https://www.tensorflow.org/guide/gpu#virtual_devices
    """
    message = _("The GPUs are split into logical devices, on which NCCL does not work; the strategy copies instead.")
    return Diagnosis(message, (_log.line(log),))
