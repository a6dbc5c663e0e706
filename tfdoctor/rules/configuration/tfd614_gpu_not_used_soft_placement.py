"""TFD614 gpu-not-used-soft-placement."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line, value


@rule("TFD614", Severity.ERROR)
def gpu_not_used_soft_placement(log: LogMatch) -> Found:
    """An operation was put on a device that does not exist or that cannot run it.

    ## What it is
    `tf.device('/GPU:1')` or a saved graph may name a device that this machine does not have, and some operations (on text,
    on some integer types) have no GPU kernel. With soft placement TensorFlow takes another device in silence and the GPU
    idles; without it the program ends.

    ## How it shows
    - `Could not satisfy explicit device specification '/device:GPU:1' because no supported kernel for GPU devices is available`
    - `Cannot assign a device for operation …: Operation was explicitly assigned to /device:GPU:0 but available devices are […]`

    ## How to be sure
    The message lists the available devices and the kernels of the operation. `tf.debugging.set_log_device_placement(True)` shows
    where each operation runs.

    ## What to do
    - No GPU among the available devices: that is the fault to look for; run `tfdoctor check`.
    - An index that does not exist: count from 0 among the visible GPUs.
    - An operation without a GPU kernel: `tf.config.set_soft_device_placement(True)`, or put that part on the CPU by hand.
    - A graph that was saved with devices: load it with `clear_devices`, or export it again.
    - Linux, WSL2, Windows, macOS (`tensorflow-metal` lacks many kernels), Docker, Kubernetes, Slurm: the same.

    ## References
    - https://www.tensorflow.org/guide/gpu#manual_device_placement
    - https://www.tensorflow.org/api_docs/python/tf/config/set_soft_device_placement
    """
    operation = value(log, "operation", _("an operation"))
    device = value(log, "device", _("the device it was put on"))
    return Diagnosis(
        _("{operation} cannot run on {device}.").format(operation=operation, device=device),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Call tf.config.set_soft_device_placement(True), or name a device that exists")),),
    )
