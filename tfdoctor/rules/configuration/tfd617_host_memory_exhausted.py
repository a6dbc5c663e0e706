"""TFD617 host-memory-exhausted."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line, value


@rule("TFD617", Severity.ERROR)
def host_memory_exhausted(log: LogMatch) -> Found:
    """The program needs more main memory than the machine, the container or the job gives it.

    ## What it is
    Data sets that are read or shuffled as a whole, large batches in the input pipeline, and models that run on the processor take
    main memory, not the GPU's. Where it ends, TensorFlow raises, or the kernel kills the program without a word from Python.

    ## How it shows
    - `OOM when allocating tensor with shape[…] … on /job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu`
    - `terminate called after throwing an instance of 'std::bad_alloc'`, `MemoryError`
    - `Killed`, exit code 137, and in the kernel's log `Out of memory: Killed process 4711 (python)`
    - before it, harmless by itself: `Allocation of 1207959552 exceeds 10% of free system memory.`

    ## How to be sure
    `free -g` while the program runs, or `dmesg | grep -i 'killed process'` after it. The message names a CPU device. A message that
    names `device:GPU:0` or `GPU_0_bfc` is about the GPU's memory: gpu-memory-batch-too-large.

    ## What to do
    - All systems: read data in pieces (`tf.data` from files), a smaller `shuffle(buffer_size)`, no `cache()` of all of it in memory.
    - The work should run on the GPU and runs on the processor: find out why first, `tfdoctor check`.
    - Docker: `--memory`; Kubernetes: the container's memory limit; Slurm: `--mem`.
    - WSL2: it gets half of Windows's memory by default; `memory=` in `.wslconfig`.
    - Linux: swap space turns a kill into a slow program.

    ## References
    - https://www.tensorflow.org/guide/data_performance
    - https://learn.microsoft.com/windows/wsl/wsl-config
    """
    shape = value(log, "shape", "")
    what = _("a tensor of shape {shape}").format(shape=shape) if shape else _("what the program asked for")
    return Diagnosis(
        _("Main memory is too small for {what}; this is not the GPU's memory.").format(what=what),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Read data in pieces, or give the program more main memory")),),
    )
