"""TFD702 input-pipeline-starves-gpu."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, Severity
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.platform import Cpu
from tfdoctor.rules import _log


@rule("TFD702", Severity.WARNING)
def input_pipeline_starves_gpu(log: LogMatch, cpu: Optional[Cpu], gpus: Optional[Gpus]) -> Found:
    """The GPU waits for data: the processor cannot read and prepare it fast enough.

    ## What it is
    Decoding, augmentation and reading happen on the CPU. One Python generator, `map` without parallel calls, a slow disk or too few
    cores for the GPUs leave the GPU idle between steps.

    ## How it shows
    - no error; utilisation goes up and down like a saw, one core is at 100 %
    - Keras: `Your input ran out of data` is another matter; so is a slow first epoch with `cache`
    - TensorBoard's profiler: "input-bound"

    ## How to be sure
    Train on one batch that is repeated (`dataset.take(1).cache().repeat()`): if steps become much faster, it is the input. Clocks, PCIe
    width and a matrix product are normal.

    ## What to do
    - Everywhere: `map(…, num_parallel_calls=tf.data.AUTOTUNE)`, `prefetch(tf.data.AUTOTUNE)`, `cache()` where it fits, TFRecord instead of many
      small files; no Python generators in the way.
    - Docker, Kubernetes, Slurm: ask for more cores per GPU (`--cpus-per-task`); data on a local disk.
    - WSL2: keep data inside the distribution's file system, not below `/mnt/c`.

    ## References
    - https://www.tensorflow.org/guide/data_performance
    - https://www.tensorflow.org/guide/data_performance_analysis
    - https://github.com/rpautrat/SuperPoint/issues/77
    """
    count, cores = len(gpus) if gpus else 0, cpu.cores if cpu else 0
    message = _("The GPU waits for its input ({cores} processor cores for {gpus} GPUs).").format(
        cores=cores or "?", gpus=count or "?"
    )
    evidence = [_log.line(log)]
    if cpu is not None:
        evidence.append(Evidence(_("{cores} cores").format(cores=cores), cpu.source))
    fix = remedies.by_hand(
        _("map(…, num_parallel_calls=tf.data.AUTOTUNE) and prefetch(tf.data.AUTOTUNE) in the input pipeline")
    )
    return Diagnosis(message, tuple(evidence), (fix,))
