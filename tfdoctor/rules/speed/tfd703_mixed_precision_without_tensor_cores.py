"""TFD703 mixed-precision-without-tensor-cores."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.rules._hints import listed
from tfdoctor.tables import Tables


@rule("TFD703", Severity.INFO)
def mixed_precision_without_tensor_cores(machine: GpuMachine, gpus: Gpus, tables: Tables) -> Found:
    """This GPU has no tensor cores, so mixed precision makes nothing faster on it.

    ## What it is
    `mixed_float16` is fast because of tensor cores: compute capability 7.0 and newer, without the GTX 16 series (7.5, but none). On
    older cards float16 halves the memory and is as slow as float32, or far slower (GTX 10: a sixty-fourth). bfloat16 needs 8.0.

    ## How it shows
    - Keras: `Mixed precision compatibility check (mixed_float16): WARNING. Your GPU may run slowly with dtype policy mixed_float16 because it
      does not have compute capability of at least 7.0`
    - training becomes slower after the policy was set

    ## How to be sure
    `nvidia-smi --query-gpu=name,compute_cap --format=csv`, and the model in a list of cards with tensor cores.

    ## What to do
    - Everywhere: leave the policy at float32; use mixed precision there only to save memory.
    - Mixed GPUs in one machine: choose those with tensor cores through `CUDA_VISIBLE_DEVICES`.
    - Volta and Turing: `mixed_float16`, not `mixed_bfloat16`.

    ## References
    - https://www.tensorflow.org/guide/mixed_precision
    - https://docs.nvidia.com/deeplearning/performance/mixed-precision-training/index.html
    """
    without = [g for g in gpus if _has_tensor_cores(g, tables) is False]
    if not without:
        return None
    gpu = without[0]
    row = tables.compute_capability(gpu.compute_capability or "")
    message = _(
        "GPU {gpus} ({name}, {cc}) has no tensor cores, which mixed precision needs to be faster ({need} and newer have them)."
    ).format(gpus=listed(g.index for g in without), name=gpu.name, cc=gpu.compute_capability, need="7.0")
    evidence = (
        Evidence(_("compute capability {cc}").format(cc=gpu.compute_capability), row.source if row else gpus.source),
    )
    fix = remedies.by_hand(_("Keep the dtype policy float32 on this GPU"))
    return Diagnosis(message, evidence, (fix,), gpus=tuple(g.index for g in without))


def _has_tensor_cores(gpu: Gpu, tables: Tables) -> Optional[bool]:
    """By model where the table knows it (GTX 16xx has none at 7.5), else by compute capability; None: not known."""
    known = tables.gpu(gpu.name)
    if known is not None and known.compute_capability == gpu.compute_capability:
        return known.tensor_cores
    row = tables.compute_capability(gpu.compute_capability) if gpu.compute_capability else None
    return None if row is None else row.tensor_core_generation > 0
