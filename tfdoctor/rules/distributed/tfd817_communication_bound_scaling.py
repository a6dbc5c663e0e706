"""TFD817 communication-bound-scaling."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, Severity
from tfdoctor.probes.nvml import Topology
from tfdoctor.rules import _log


@rule("TFD817", Severity.WARNING, caused_by=("TFD801", "TFD802", "TFD803", "TFD804", "TFD805", "TFD815", "TFD816"))
def communication_bound_scaling(log: LogMatch, topology: Optional[Topology]) -> Found:
    """Several GPUs are hardly faster than one because exchanging gradients takes most of the step.

    ## What it is
    After every step the GPUs add up their gradients. The time for it depends on the model's size and on the links, not on the batch. With
    small batches, large models and PCIe in place of NVLink it dominates.

    ## How it shows
    - throughput with two GPUs is below 1.5 times that of one
    - long NCCL AllReduce kernels in the profiler's timeline

    ## How to be sure
    Double the batch per GPU: if throughput nearly doubles, communication was the bound. `all_reduce_perf` of nccl-tests shows what the links can
    do (busbw).

    ## What to do
    - Everywhere: larger batch per GPU; mixed precision; gradient accumulation; `CommunicationOptions(bytes_per_pack=…)`.
    - Remove what slows the links: TFD111 (PCIe width), TFD116 to TFD119 (NVLink), TFD803 (IOMMU), TFD805 (variables).
    - Several hosts: RDMA in place of TCP; Slurm: nodes on one switch (`--switches=1`).

    ## References
    - https://www.tensorflow.org/guide/gpu_performance_analysis
    - https://www.tensorflow.org/api_docs/python/tf/distribute/experimental/CommunicationOptions
    - https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
    """
    links = sorted(set(topology.levels.values())) if topology else []
    message = _("Exchanging gradients takes most of each step (GPUs joined by: {links}).").format(
        links=", ".join(links) or "?"
    )
    evidence = [_log.line(log)]
    if topology is not None and links:
        evidence.append(Evidence(", ".join(links), topology.source))
    fix = remedies.by_hand(_("A larger batch per GPU, mixed precision, gradient accumulation"))
    return Diagnosis(message, tuple(evidence), (fix,))
