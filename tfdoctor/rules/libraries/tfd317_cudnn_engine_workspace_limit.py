"""TFD317 cudnn-engine-workspace-limit."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line, value


@rule("TFD317", Severity.ERROR)
def cudnn_engine_workspace_limit(log: LogMatch) -> Found:
    """Every cuDNN engine for this convolution needs more scratch memory than TensorFlow allows it.

    ## What it is
    TensorFlow lets a convolution use a limited workspace, 4 GiB (8 GiB in newer releases) unless told otherwise. For some shapes, and for GPUs that
    this cuDNN knows badly, each engine that cuDNN offers asks for more, so none is left. The GPU's memory may be free.

    ## How it shows
    `No algorithm worked!` or `NOT_FOUND: No algorithm worked!`, with lines before it that say
    `… exceeds the memory limit of 4294967296 bytes` or list engines that failed.

    ## How to be sure
    The limit in the line is exactly 4294967296 or 8589934592 bytes while `nvidia-smi` shows free memory. If the memory is
    nearly full, gpu-memory-exhausted-before-library-handle is the likelier cause.

    ## What to do
    - All systems: raise the limit with `TF_CUDNN_WORKSPACE_LIMIT_IN_MB` (8192 where it was 4 GiB) before Python starts, if the GPU has that much.
    - Change the shape: channels in multiples of 8, a smaller batch or image.
    - Another cuDNN of the same major version, within what TensorFlow accepts: engines differ between versions.
    - Docker, Kubernetes, Slurm: set the variable in the container, pod or job.

    ## References
    - https://github.com/tensorflow/tensorflow/pull/56055
    - https://docs.nvidia.com/deeplearning/cudnn/latest/
    """
    limit = value(log, "limit_bytes", "4294967296")
    twice = 2 * int(limit) // 1024**2 if limit.isdigit() else 8192
    return Diagnosis(
        _("No cuDNN engine fits into the workspace limit of {limit} bytes.").format(limit=limit),
        evidence=(line(log),),
        fixes=(remedies.variable("TF_CUDNN_WORKSPACE_LIMIT_IN_MB", str(twice)),),
    )
