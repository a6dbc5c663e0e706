"""TFD611 gpu-memory-exhausted-before-library-handle."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line


@rule("TFD611", Severity.ERROR)
def gpu_memory_exhausted_before_library_handle(log: LogMatch) -> Found:
    """cuDNN or cuBLAS could not be set up because no GPU memory was left for it.

    ## What it is
    TensorFlow reserves nearly all free GPU memory for itself when it starts. cuDNN, cuBLAS and cuSOLVER need memory outside of
    that when they are first used. On small GPUs, with a desktop on the card or a second program, nothing is left, and the
    library answers with an error that reads like a broken installation.

    ## How it shows
    - `Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR` or `CUDNN_STATUS_ALLOC_FAILED`
    - `failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED`, `Blas GEMM launch failed`
    - `Failed to get convolution algorithm. This is probably because cuDNN failed to initialize`

    ## How to be sure
    It works with `TF_FORCE_GPU_ALLOW_GROWTH=true`. The line `Created device … with N MB memory` shows nearly all of the card.
    If the log has `Loaded runtime CuDNN library: … but source was compiled with`, the version is the fault instead.

    ## What to do
    - All systems: `TF_FORCE_GPU_ALLOW_GROWTH=true`, or `tf.config.experimental.set_memory_growth` before the first operation.
    - Close what else uses the GPU: other notebooks, browsers, the desktop.
    - Or a limit below the card's memory with `tf.config.set_logical_device_configuration`.
    - Only when none of it helps look at the versions of CUDA and cuDNN.
    - Docker, Kubernetes, Slurm: set the variable in the container, pod or job. WSL2, Windows: the desktop holds part of the card.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/24496
    - https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """
    return Diagnosis(
        _(
            "A library of CUDA could not be set up, most likely because TensorFlow or another program has taken all GPU memory."
        ),
        evidence=(line(log),),
        fixes=(remedies.variable("TF_FORCE_GPU_ALLOW_GROWTH", "true"),),
    )
