"""TFD609 gpu-memory-held-by-other-process."""

from __future__ import annotations

from collections.abc import Iterator

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.tables import Tables

MIB = 1024**2


@rule("TFD609", Severity.WARNING)
def gpu_memory_held_by_other_process(machine: GpuMachine, gpus: Gpus, tables: Tables) -> Found:
    """Another process holds nearly all memory of the GPU.

    ## What it is
    TensorFlow reserves what is free when it starts. A notebook kernel that is still running, a training job, a model server
    or another user's program that holds the memory leaves nothing, and then even the CUDA context or cuDNN cannot be set
    up. A TensorFlow without memory growth holds all memory even when it computes nothing.

    ## How it shows
    - `failed to allocate … from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory`
    - `cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY`, then `no supported devices found for platform CUDA`
    - `Device mapping: no known devices`, `Could not create cudnn handle`

    ## How to be sure
    `nvidia-smi` before the program starts: memory in use, and who is in the list of processes.

    ## What to do
    - Linux: end your own left-over process (restart the notebook kernel first; `kill PID` second); another user's job is theirs.
    - Choose a free GPU: `CUDA_VISIBLE_DEVICES=N` with an index whose memory is free.
    - To share one GPU: `TF_FORCE_GPU_ALLOW_GROWTH=true` or a memory limit in every program on it.
    - Docker, Kubernetes: processes of other containers are not listed inside; look on the host.
    - Slurm: ask for a GPU of your own (`--gres=gpu:1`); a program outside of any job may be on the node.
    - WSL2, Windows: desktop programs and other WSL shells count too. macOS: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/30594
    - https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """
    limit = tables.threshold("gpu-memory-held")
    return list(_full(gpus, limit.value))


def _full(gpus: Gpus, limit: float) -> Iterator[Diagnosis]:
    for gpu in gpus:
        if gpu.mig or not gpu.processes or not gpu.memory_total or gpu.memory_used is None:
            continue
        if gpu.memory_used < limit * gpu.memory_total:
            continue
        yield Diagnosis(
            _("{gpu}: {used} of {total} MiB are in use, by {who}.").format(
                gpu=gpu.label, used=gpu.memory_used // MIB, total=gpu.memory_total // MIB, who=_who(gpu)
            ),
            evidence=(
                Evidence(
                    _("{used} MiB in use before TensorFlow starts").format(used=gpu.memory_used // MIB), gpus.source
                ),
            ),
            fixes=(
                remedies.by_hand(_("End the process that holds the memory, if it is yours"), ("nvidia-smi",)),
                remedies.by_hand(_("Or choose another GPU with CUDA_VISIBLE_DEVICES")),
            ),
            gpus=() if len(gpus) == 1 else (gpu.index,),
        )


def _who(gpu: Gpu) -> str:
    """The processes by size: "python (PID 4711, this user)"."""
    largest = sorted(gpu.processes or (), key=lambda process: process.memory or 0, reverse=True)[:3]
    return ", ".join(
        _("{name} (PID {pid}{user})").format(
            name=process.name or "?", pid=process.pid, user=f", {process.user}" if process.user else ""
        )
        for process in largest
    )
