"""TFD701 gpu-slower-than-cpu-small-work."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, Severity
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules import _log


@rule("TFD701", Severity.INFO)
def gpu_slower_than_cpu_small_work(log: LogMatch, gpus: Optional[Gpus]) -> Found:
    """The work is too small for the GPU: starting its kernels costs more than they take.

    ## What it is
    Each operation on a GPU costs some microseconds to start and a copy for what comes from the host. Small models, small batches and
    Python loops over single operations spend their time on that, and a processor is faster.

    ## How it shows
    - a step takes longer on the GPU than on the CPU; utilisation stays low, clocks are normal
    - many tiny kernels with gaps in the profiler's timeline
    - the first step is slow everywhere: tracing and compilation, not the work

    ## How to be sure
    Time later steps only, with the batch doubled: if the time per step hardly grows, start costs dominate. TensorBoard's
    profiler shows the gaps. A matrix product of 4096 x 4096 on the same GPU is fast.

    ## What to do
    - Everywhere: larger batches; `tf.function` around the whole step; `steps_per_execution` in `compile`; `jit_compile=True`.
    - Keep data on the GPU; no `.numpy()` in the loop.
    - Or use the CPU: `CUDA_VISIBLE_DEVICES=-1`.

    ## References
    - https://www.tensorflow.org/guide/gpu_performance_analysis
    - https://www.tensorflow.org/guide/function
    """
    message = _("Each step is too small for {gpu}: starting its kernels costs more time than they take.").format(
        gpu=gpus.gpus[0].label if gpus and gpus.gpus else _("a GPU")
    )
    evidence = [_log.line(log)]
    if gpus and gpus.gpus and gpus.gpus[0].utilization is not None:
        evidence.append(Evidence(_("utilisation {percent} %").format(percent=gpus.gpus[0].utilization), gpus.source))
    fix = remedies.by_hand(_("Larger batches, tf.function around the whole step, steps_per_execution in compile()"))
    return Diagnosis(
        message, tuple(evidence), (fix, remedies.variable("CUDA_VISIBLE_DEVICES", "-1", title=_("Or use the CPU")))
    )
