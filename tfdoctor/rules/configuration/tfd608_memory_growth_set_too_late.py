"""TFD608 memory-growth-set-too-late."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line


@rule("TFD608", Severity.ERROR)
def memory_growth_set_too_late(log: LogMatch) -> Found:
    """The program changes how GPU memory is reserved after TensorFlow has already set up its devices.

    ## What it is
    Memory growth, memory limits and logical devices must be set before TensorFlow initialises its GPUs. Any operation does
    that, and so does the import of a library that makes a tensor, a model or a variable when it is loaded.

    ## How it shows
    - `RuntimeError: Physical devices cannot be modified after being initialized`
    - `RuntimeError: Virtual devices cannot be modified after being initialized`
    - `Cannot set memory growth on device when virtual devices configured`

    ## How to be sure
    The traceback shows the call. In a notebook, a cell that ran before is enough: restart the kernel and run it first.

    ## What to do
    - All systems: make `tf.config.experimental.set_memory_growth(gpu, True)` for every GPU the first thing after
      `import tensorflow`, before other imports that use it.
    - Or without code: `TF_FORCE_GPU_ALLOW_GROWTH=true` before Python starts.
    - Give every visible GPU the same setting.
    - Jupyter: restart the kernel. Docker, Kubernetes, Slurm: set the variable in the container, pod or job.

    ## References
    - https://github.com/huggingface/transformers/issues/1507
    - https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """
    return Diagnosis(
        _("The program sets memory growth or logical devices after TensorFlow has set up its GPUs."),
        evidence=(line(log),),
        fixes=(
            remedies.variable("TF_FORCE_GPU_ALLOW_GROWTH", "true"),
            remedies.by_hand(_("Or move the call to the start of the program")),
        ),
    )
