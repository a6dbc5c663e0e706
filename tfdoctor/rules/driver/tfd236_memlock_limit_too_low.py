"""TFD236 memlock-limit-too-low."""

from __future__ import annotations

import json
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.platform import Limits
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import contained
from tfdoctor.tables import Tables


@rule("TFD236", Severity.WARNING)
def memlock_limit_too_low(
    machine: GpuMachine, limits: Limits, environment: Environment, tables: Tables, container: Optional[Container]
) -> Found:
    """The limit on locked memory is too low for RDMA between hosts.

    ## What it is
    InfiniBand and RoCE need memory that cannot be paged out. NCCL registers hundreds of MiB with the network card, and the kernel counts
    that against RLIMIT_MEMLOCK. Defaults of 64 KiB or 8 MiB are enough for a desktop and not for that. One host alone does
    not need it.

    ## How it shows
    - `NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory`, while memory is free
    - it works over TCP (`NCCL_IB_DISABLE=1`)

    ## How to be sure
    In the environment of the job itself (not of a login shell): `ulimit -l`. It should print `unlimited`.

    ## What to do
    - Linux: `* soft memlock unlimited` and `* hard memlock unlimited` in `/etc/security/limits.conf`; for services
      `LimitMEMLOCK=infinity`.
    - Docker: `--ulimit memlock=-1`. Kubernetes: containerd's unit needs `LimitMEMLOCK=infinity`, or the capability IPC_LOCK.
    - Slurm: `LimitMEMLOCK=infinity` for slurmd, and `PropagateResourceLimitsExcept=MEMLOCK`.
    - One host, WSL2, Windows: does not matter.

    ## References
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
    - https://github.com/NVIDIA/nccl-tests/issues/206
    """
    least = tables.threshold("memlock-for-rdma")
    if limits.memlock is None or limits.memlock >= least.value or not _several_hosts(environment):
        return None
    message = _("Locked memory is limited to {have} KiB; RDMA between hosts needs it unlimited.").format(
        have=limits.memlock // 1024
    )
    evidence = (
        Evidence(_("RLIMIT_MEMLOCK {bytes} bytes").format(bytes=limits.memlock), limits.source),
        Evidence(least.why, least.source),
    )
    if contained(container):
        fix = remedies.by_hand(
            _("Lift the limit"), ("docker", "run", "--ulimit", "memlock=-1", "--gpus", "all", "IMAGE")
        )
    else:
        note = _('Write "* - memlock unlimited" to a file below /etc/security/limits.d, then log in again.')
        fix = remedies.by_hand(_("Lift the limit"), note=note, needs=("root", "new shell"))
    return Diagnosis(message, evidence, (fix,))


def _several_hosts(environment: Environment) -> bool:
    """Whether this environment is set up for training over several hosts: TF_CONFIG names more than one, or NCCL's RDMA is set up."""
    if any(name.startswith("NCCL_IB_") for name in environment.variables):
        return environment.get("NCCL_IB_DISABLE") != "1"
    try:
        cluster = json.loads(environment.get("TF_CONFIG") or "{}")["cluster"]
        hosts = {address.rpartition(":")[0] for addresses in cluster.values() for address in addresses}
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return len(hosts) > 1
