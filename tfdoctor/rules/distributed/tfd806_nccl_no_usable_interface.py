"""TFD806 nccl-no-usable-interface."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, LogMatch, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules import _log
from tfdoctor.rules._hints import contained


@rule("TFD806", Severity.ERROR)
def nccl_no_usable_interface(
    log: LogMatch, container: Optional[Container], environment: Optional[Environment]
) -> Found:
    """NCCL finds no network interface that it can use to start its ranks.

    ## What it is
    Ranks find each other through a socket, on one machine too. NCCL leaves out loopback and Docker bridges at first, and takes only what
    `NCCL_SOCKET_IFNAME` allows. A container without a network, IPv6 switched off, or a name that does not exist leaves nothing.

    ## How it shows
    - `NCCL WARN Bootstrap : no socket interface found`
    - `NCCL WARN Call to socket failed : Address family not supported by protocol`
    - lines about libibverbs above it are harmless without InfiniBand

    ## How to be sure
    `ip -br address` in the same container: an interface that is UP with an address, other than `lo`.

    ## What to do
    - Everywhere: `NCCL_SOCKET_IFNAME` with the name (or beginning) of an interface that exists, or unset.
    - Docker: `--network=host`. Kubernetes: `hostNetwork: true` for the training pods, or the pod's `eth0`.
    - IPv6 is off: `NCCL_SOCKET_FAMILY=AF_INET`. One machine only: `NCCL_SOCKET_IFNAME=lo`.
    - Slurm: the same in the job's environment.

    ## References
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    - https://github.com/NVIDIA/nccl-tests/issues/14
    """
    name = environment.get("NCCL_SOCKET_IFNAME") if environment else ""
    message = _("NCCL finds no network interface to start on (NCCL_SOCKET_IFNAME: {name}).").format(
        name=name or _("not set")
    )
    evidence = [_log.line(log)]
    fixes: list[Fix] = []
    if name and environment is not None:
        evidence.append(Evidence(f"NCCL_SOCKET_IFNAME={name}", environment.source))
        fixes.append(remedies.variable("NCCL_SOCKET_IFNAME", None))
    if contained(container):
        fixes.append(
            remedies.by_hand(
                _("Give the container the host's network"),
                ("docker", "run", "--network=host", "--gpus", "all", "IMAGE"),
            )
        )
    fixes.append(remedies.by_hand(_("Look at the interfaces"), ("ip", "-br", "address")))
    return Diagnosis(message, tuple(evidence), tuple(fixes))
