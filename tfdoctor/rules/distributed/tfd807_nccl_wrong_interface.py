"""TFD807 nccl-wrong-interface."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.rules import _log


@rule("TFD807", Severity.ERROR)
def nccl_wrong_interface(log: LogMatch, environment: Optional[Environment]) -> Found:
    """NCCL chose a network interface on which the other hosts cannot be reached.

    ## What it is
    Machines have several interfaces: loopback, Docker and virtual machine bridges, a management network, the fast one. NCCL takes
    one by its own order. An address such as 172.17.0.1 (docker0) or 127.0.0.1 leads nowhere from another host.

    ## How it shows
    - `NCCL INFO Bootstrap : Using docker0:172.17.0.1` (or lo, virbr0, veth…) with `NCCL_DEBUG=INFO`
    - `NCCL WARN Net : Connect to 172.17.0.1<…> failed : Connection refused`, timeouts, `Connection closed by remote peer`

    ## How to be sure
    The interface that `NCCL_DEBUG=INFO` names, and from the other host `ping` to its address.

    ## What to do
    - Everywhere: `NCCL_SOCKET_IFNAME=eth0` (the fast network's name), or by exclusion `NCCL_SOCKET_IFNAME=^lo,docker,virbr,veth`, on all hosts.
    - The firewall must let the hosts' ports through.
    - Kubernetes: the pod network's interface. Slurm: the name may differ by node; a common beginning is enough.

    ## References
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    - https://github.com/horovod/horovod/issues/666
    """
    chosen = _log.value(log, "interface", _("an interface"))
    message = _("NCCL uses {interface}, and the other host cannot be reached on it.").format(interface=chosen)
    evidence = [_log.line(log)]
    if environment is not None and environment.get("NCCL_SOCKET_IFNAME"):
        evidence.append(Evidence(f"NCCL_SOCKET_IFNAME={environment.get('NCCL_SOCKET_IFNAME')}", environment.source))
    fix = remedies.variable(
        "NCCL_SOCKET_IFNAME", "^lo,docker,virbr,veth", note=_("On every host. Or name the right interface.")
    )
    return Diagnosis(message, tuple(evidence), (fix,))
