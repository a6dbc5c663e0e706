"""TFD816 gpus-across-numa-nodes."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus, Topology
from tfdoctor.rules._hints import visible


@rule("TFD816", Severity.INFO)
def gpus_across_numa_nodes(
    machine: GpuMachine, gpus: Gpus, topology: Topology, environment: Optional[Environment]
) -> Found:
    """GPUs used together sit on different processors and are not joined by NVLink.

    ## What it is
    Between two sockets (or two NUMA nodes of one) traffic crosses the link of the processors, which is slower than PCIe below one of them. NCCL copes
    with it; AllReduce over such GPUs is slower.

    ## How it shows
    - `nvidia-smi topo -m` shows SYS between them
    - two GPUs of one socket scale better than two of different ones

    ## How to be sure
    `nvidia-smi topo -m`: the column NUMA Affinity. With NV… in the table it does not matter.

    ## What to do
    - Choose GPUs of one node with `CUDA_VISIBLE_DEVICES`, where two are enough.
    - One process per GPU: bind each to its node (`numactl --cpunodebind=N --membind=N`). Slurm: `--gpu-bind=closest`.
    - Kubernetes: the topology manager's policy `single-numa-node`. Desktops, WSL2: does not arise.

    ## References
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    - https://docs.nvidia.com/deploy/nvidia-smi/index.html
    """
    used = {g.index: g for g in visible(gpus, environment)}
    apart = [p for p, level in topology.levels.items() if level == "SYS" and p[0] in used and p[1] in used]
    nodes = [(used[a].numa_node, used[b].numa_node) for a, b in apart]
    known = [(p, n) for p, n in zip(apart, nodes) if None not in n and -1 not in n and n[0] != n[1]]
    if not known:
        return None
    (one, other), (node, other_node) = known[0]
    message = _(
        "GPU {one} (NUMA node {node}) and GPU {other} (NUMA node {other_node}) are joined only across processors (SYS)."
    ).format(one=one, node=node, other=other, other_node=other_node)
    evidence = (
        Evidence(_("{count} pairs across NUMA nodes without NVLink").format(count=len(known)), topology.source),
    )
    beside = ",".join(str(g.index) for g in used.values() if g.numa_node == node)
    fixes = (
        (remedies.variable("CUDA_VISIBLE_DEVICES", beside, title=_("Use the GPUs of one NUMA node")),)
        if "," in beside
        else ()
    )
    return Diagnosis(message, evidence, fixes)
