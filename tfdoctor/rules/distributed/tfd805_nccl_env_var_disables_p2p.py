"""TFD805 nccl-env-var-disables-p2p."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Topology


@rule("TFD805", Severity.WARNING)
def nccl_env_var_disables_p2p(machine: GpuMachine, topology: Topology, environment: Environment) -> Found:
    """An environment variable forbids NCCL the direct way between GPUs that have one.

    ## What it is
    `NCCL_P2P_DISABLE=1` and `NCCL_P2P_LEVEL=LOC` send all traffic between GPUs through the host's memory, NVLink or not. They are stop-gaps for broken
    peer-to-peer access that stay behind in scripts and images.

    ## How it shows
    - `NCCL INFO NCCL_P2P_LEVEL set by environment to LOC` with `NCCL_DEBUG=INFO`
    - AllReduce at a few GB/s although `nvidia-smi topo -m` shows NVLink

    ## How to be sure
    `env | grep NCCL_P2P`, in the job itself; and `/etc/nccl.conf`, `~/.nccl.conf`, which NCCL reads too.

    ## What to do
    - Everywhere: unset it. If training hangs then, the reason for it is still there: TFD803.
    - Docker, Kubernetes: `ENV` lines of the image, the pod's `env`. Slurm: the job's prologue and modules.

    ## References
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    - https://github.com/NVIDIA/nccl-tests/issues/228
    """
    level = environment.get("NCCL_P2P_LEVEL").upper()
    name = (
        "NCCL_P2P_DISABLE"
        if environment.get("NCCL_P2P_DISABLE") == "1"
        else "NCCL_P2P_LEVEL"
        if level in ("LOC", "0")
        else ""
    )
    joined = [p for p, kind in topology.levels.items() if kind.startswith("NV")]
    if not name or not joined:
        return None
    one, other = joined[0]
    message = _(
        "{name} is {value}, so NCCL does not use the NVLinks ({level}) between GPU {one} and GPU {other}."
    ).format(name=name, value=environment.get(name), level=topology.levels[joined[0]], one=one, other=other)
    evidence = (
        Evidence(f"{name}={environment.get(name)}", environment.source),
        Evidence(_("{count} pairs joined by NVLink").format(count=len(joined)), topology.source),
    )
    return Diagnosis(message, evidence, (remedies.variable(name, None),))
