"""TFD804 p2p-not-supported-by-gpu."""

from __future__ import annotations

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Topology

WHY = {"GNS": "these GPUs do not support it", "CNS": "the chipset does not support it"}


@rule("TFD804", Severity.INFO)
def p2p_not_supported_by_gpu(machine: GpuMachine, topology: Topology) -> Found:
    """These GPUs cannot access each other's memory directly; NCCL goes through the host's memory.

    ## What it is
    Peer-to-peer access over PCIe is not offered on most GeForce cards (RTX 40 and 50 among them), nor across some chipsets. NCCL
    notices and uses shared memory. That is the normal way there, with less bandwidth.

    ## How it shows
    - NCCL: `P2P is disabled between connected GPUs 1 and 0. You can repress this message with NCCL_IGNORE_DISABLED_P2P=1.`
    - `nvidia-smi topo -p2p r` prints GNS (not supported by the GPU) or CNS (by the chipset)

    ## How to be sure
    The same table on another machine with the same cards.

    ## What to do
    - Nothing; but `/dev/shm` must be large enough (TFD802), in containers above all.
    - Larger batches per GPU and fewer, larger gradients make the slower way matter less.
    - Cards with NVLink: a bridge. Everything else is the same on Linux, Docker and Slurm. WSL2: peer-to-peer is not available.

    ## References
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    - https://docs.nvidia.com/deploy/nvidia-smi/index.html
    """
    closed = [
        (pair, status)
        for pair, status in topology.p2p.items()
        if status in WHY and not topology.levels.get(pair, "").startswith("NV")
    ]
    if not closed:
        return None
    pair, status = closed[0]
    why = _("these GPUs do not support it") if status == "GNS" else _("the chipset does not support it")
    message = _(
        "GPU {one} and GPU {other} cannot access each other's memory ({status}: {why}); NCCL uses the host's memory."
    ).format(one=pair[0], other=pair[1], status=status, why=why)
    return Diagnosis(
        message, (Evidence(_("{count} pairs without peer-to-peer access").format(count=len(closed)), topology.source),)
    )
