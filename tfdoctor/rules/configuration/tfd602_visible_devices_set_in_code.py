"""TFD602 visible-devices-set-in-code."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line


@rule("TFD602", Severity.ERROR)
def visible_devices_set_in_code(log: LogMatch) -> Found:
    """The program itself has taken a kind of device away that TensorFlow needs.

    ## What it is
    `tf.config.set_visible_devices([], 'CPU')`, or a list for `'GPU'` given without naming the kind, leaves TensorFlow without
    a CPU device. TensorFlow cannot run without one: datasets, variables and every operation without a GPU kernel live
    there. Taking the GPUs away the same way (`set_visible_devices([], 'GPU')`) hides them from TensorFlow alone.

    ## How it shows
    `NotFoundError: No CPU devices are available in this process`, at the first operation; or GPUs that
    `list_physical_devices('GPU')` shows and `list_logical_devices('GPU')` does not

    ## How to be sure
    Search the program and the libraries it imports for `set_visible_devices` and `experimental_set_visible_devices`.

    ## What to do
    - All systems: remove the call for `'CPU'`. Operations go to the GPU by themselves where they have a kernel for it;
      `tf.device('/GPU:0')` asks for it.
    - To choose GPUs: `tf.config.set_visible_devices(gpus[0], 'GPU')`, before the first operation, with the kind named.
    - Linux, WSL2, Windows, macOS, Docker, Kubernetes, Slurm: the same.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/45156
    - https://www.tensorflow.org/api_docs/python/tf/config/set_visible_devices
    """
    return Diagnosis(
        _(
            "The program has hidden the CPU from TensorFlow with set_visible_devices; TensorFlow cannot work without it."
        ),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Remove the call of set_visible_devices for 'CPU'")),),
    )
