"""TFD613 gpu-memory-fragmented."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line


@rule("TFD613", Severity.ERROR)
def gpu_memory_fragmented(log: LogMatch) -> Found:
    """Enough GPU memory is free, but not in one piece.

    ## What it is
    TensorFlow's allocator takes memory in regions and hands out pieces. Shapes that change from step to step (sequences of
    any length, images of any size) leave gaps. A large tensor then finds no gap that is large enough, although the sum of
    the gaps would do.

    ## How it shows
    - `If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve
      the situation.` TensorFlow adds this line to most out-of-memory errors; alone it proves nothing.
    - The error comes after many steps that went well

    ## How to be sure
    In the table of allocations that TensorFlow prints, the bytes that are free (`Limit` less `InUse`) exceed the request that
    failed. If they do not, the work is too large: gpu-memory-batch-too-large.

    ## What to do
    - Linux, WSL2, CUDA 11.2 and newer: `TF_GPU_ALLOCATOR=cuda_malloc_async` before Python starts.
    - Pad or bucket inputs to a few fixed shapes; that also saves retracing.
    - Without memory growth the regions are larger, which fragments less.
    - Docker, Kubernetes, Slurm: set the variable in the container, pod or job.
    - Windows: fixed shapes and no memory growth. macOS: does not arise.

    ## References
    - https://developer.nvidia.com/blog/using-cuda-stream-ordered-memory-allocator-part-1/
    - https://www.tensorflow.org/guide/gpu
    """
    return Diagnosis(
        _("More GPU memory is free than was asked for, but not in one piece."),
        evidence=(line(log),),
        fixes=(remedies.variable("TF_GPU_ALLOCATOR", "cuda_malloc_async"),),
    )
