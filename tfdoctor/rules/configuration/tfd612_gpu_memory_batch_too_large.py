"""TFD612 gpu-memory-batch-too-large."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line, value


@rule("TFD612", Severity.ERROR)
def gpu_memory_batch_too_large(log: LogMatch) -> Found:
    """The program itself needs more GPU memory than the card has.

    ## What it is
    Weights, gradients, the optimizer's state and above all the activations of one batch must fit into the GPU's memory.
    When this process already holds nearly all of the card and no other does, the work is too large for it.

    ## How it shows
    - `ResourceExhaustedError: OOM when allocating tensor with shape[64,512,512,64] and type float on …/device:GPU:0`
    - `RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes`
    - `Allocator (GPU_0_bfc) ran out of memory trying to allocate …`, with a table of allocations and `Limit`, `InUse`

    ## How to be sure
    The shape that failed is large, and begins with the batch size. In the table `InUse` is near `Limit`, and `Limit` near the
    card's memory. If `Limit` is small, another process holds the rest; if `InUse` is far below `Limit`, see
    gpu-memory-fragmented.

    ## What to do
    - All systems: halve the batch (and accumulate gradients), shorten sequences, shrink images.
    - Mixed precision where the card has tensor cores (compute capability 7.0 and newer): `mixed_float16`; `mixed_bfloat16`
      from 8.0 on.
    - `tf.recompute_grad` around large blocks trades time for memory. An optimizer with less state than Adam.
    - A model that is too large for one card: a bigger card. MirroredStrategy copies the model to every card.
    - Memory growth does not help: it changes when memory is taken, not how much is needed.
    - Docker, Kubernetes, Slurm: the same; `--mem` of Slurm is main memory, not the GPU's.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/recompute_grad
    - https://www.tensorflow.org/guide/mixed_precision
    """
    shape = value(log, "shape", "")
    what = _("a tensor of shape {shape}").format(shape=shape) if shape else _("what the program asked for")
    return Diagnosis(
        _("The GPU's memory is too small for {what}.").format(what=what),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Use a smaller batch; then mixed precision or tf.recompute_grad")),),
    )
