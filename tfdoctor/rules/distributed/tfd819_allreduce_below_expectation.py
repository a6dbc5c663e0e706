"""TFD819 allreduce-below-expectation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor.engine import rule
from tfdoctor.model import Diagnosis, Severity
from tfdoctor.probes.nvml import Gpus, Topology
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.rules._rates import below
from tfdoctor.smoke import expectation
from tfdoctor.tables import Tables


@rule("TFD819", Severity.WARNING, caused_by=("TFD111", "TFD116", "TFD118", "TFD119", "TFD803", "TFD804", "TFD805"))
def allreduce_below_expectation(
    smoke: SmokeResults, gpus: Optional[Gpus], topology: Optional[Topology], tables: Tables
) -> Iterator[Diagnosis]:
    """AllReduce between the GPUs reaches far less than the link between them.

    ## What it is
    MirroredStrategy sums the gradients of all GPUs with AllReduce. Its bus bandwidth, as nccl-tests define it, is below a
    generous share of the NVLink or PCIe rate between the GPUs.

    ## How it shows
    Several GPUs are hardly faster than one.

    ## How to be sure
    `nvidia-smi topo -m` and `nvidia-smi nvlink -s`; `NCCL_DEBUG=INFO` prints the transport of each pair (P2P, SHM, NET).

    ## What to do
    - NVLinks down: reseat the bridge, reset the GPUs.
    - Peer-to-peer off by a variable: unset NCCL_P2P_DISABLE.
    - PCIe only: larger batches per GPU, fewer and larger reductions; it is the limit of the machine.

    ## References
    - https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    """
    reasons = expectation.reasons(smoke, "allreduce", gpus, topology, tables)
    yield from below(expectation.allreduce(smoke, gpus, topology, tables), reasons, smoke.source)
