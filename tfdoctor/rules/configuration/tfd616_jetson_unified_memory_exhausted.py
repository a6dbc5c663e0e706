"""TFD616 jetson-unified-memory-exhausted."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.platform import Memory
from tfdoctor.probes.surroundings import Jetson
from tfdoctor.tables import Tables

MIB = 1024**2


@rule("TFD616", Severity.WARNING)
def jetson_unified_memory_exhausted(jetson: Jetson, memory: Memory, tables: Tables) -> Found:
    """Hardly any memory is free on this Jetson board, and its GPU uses the same memory as the CPU.

    ## What it is
    A Jetson has one memory for CPU and GPU. What the desktop, Python and page buffers use is missing for TensorFlow, which then
    gets a pool of a few hundred MiB and fails on small tensors. Swap helps the CPU's side only.

    ## How it shows
    - `ran out of memory trying to allocate 7.9MiB`, `Limit: 226148352` in the table of allocations: far below the board's memory
    - The board seems to hang, then the kernel log says `invoked oom-killer` and `Killed process … (python3)`

    ## How to be sure
    `free -m` (column `available`) before the program starts, or `tegrastats` while it runs.

    ## What to do
    - Jetson: stop the desktop (`sudo systemctl isolate multi-user.target`), close other programs, then start again.
    - `TF_FORCE_GPU_ALLOW_GROWTH=true`, or an explicit limit with `tf.config.set_logical_device_configuration`.
    - A smaller model, or TensorFlow Lite or TensorRT for inference; training on a 4 GB board is not realistic.
    - Swap or zram keeps the CPU's side alive while a model is loaded.
    - Docker on Jetson: the limit of the container counts as well. Linux PCs, Windows, WSL2, macOS, Slurm: does not arise.

    ## References
    - https://github.com/foamliu/Car-Recognition/issues/24
    - https://docs.nvidia.com/jetson/
    """
    limit = tables.threshold("jetson-memory-available")
    if memory.available >= limit.value:
        return None
    return Diagnosis(
        _("Only {available} of {total} MiB are free on this {model}, and CPU and GPU share them.").format(
            available=memory.available // MIB, total=memory.total // MIB, model=jetson.model or "Jetson"
        ),
        evidence=(Evidence(_("{available} MiB available").format(available=memory.available // MIB), memory.source),),
        fixes=(
            remedies.by_hand(
                _("Stop the desktop and other programs"), ("systemctl", "isolate", "multi-user.target"), needs=("root",)
            ),
            remedies.variable("TF_FORCE_GPU_ALLOW_GROWTH", "true"),
        ),
    )
