"""TFD117 nvlink-hardware-fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules._hints import at, first_per_bus, index_at, name_at, says_xid, xids

#: NVLink errors: 74 up to Hopper, 144 to 150 from Blackwell on.
CODES = (74, 144, 145, 146, 147, 148, 149, 150)


@rule("TFD117", Severity.ERROR)
def nvlink_hardware_fault(machine: GpuMachine, log: KernelLog, gpus: Optional[Gpus]) -> Iterator[Diagnosis]:
    """An NVLink of this GPU has failed since the machine started.

    ## What it is
    The link's own error detection gave up: a bad connector, bridge, baseboard or GPU. Programs that used the link die, and
    collectives over it hang.

    ## How it shows
    - `NVRM: Xid (PCI:…): 74, … NVLink: fatal error detected on link …` (Blackwell: Xid 144 to 150)
    - Xid 119 on several GPUs at once right after it
    - NCCL hangs or `unhandled cuda error`, on one node only

    ## How to be sure
    `nvidia-smi nvlink -e` shows replay, recovery or CRC errors that grow. With fatal SXid lines beside it the switch
    reported it (TFD120).

    ## What to do
    - Linux: drain the node and reboot; if it returns, service. Bridged cards: seat the bridge again, try another one.
    - Meanwhile `NCCL_P2P_DISABLE=1`, or leave that GPU out with `CUDA_VISIBLE_DEVICES`.
    - Slurm, Kubernetes: drain. Cloud: stop and start the instance. WSL2, Windows: does not arise.

    ## References
    - https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
    - https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html
    """
    if any(s.fatal for s in log.sxids):
        return  # TFD120 names the switch
    for event in first_per_bus(xids(log, *CODES)):
        gpu = at(gpus, event.bus)
        counted = [link.errors or 0 for link in gpu.nvlinks or ()] if gpu else []
        errors = sum(counted)
        message = _("{gpu} reported a failed NVLink since the machine started (Xid {code}).").format(
            gpu=name_at(gpus, event.bus), code=event.code
        )
        evidence = [says_xid(event, log)]
        if errors and gpus is not None:
            evidence.append(Evidence(_("{count} link errors counted").format(count=errors), gpus.source))
        fixes = (
            remedies.reboot(),
            remedies.replace_hardware(_("the NVLink")),
            remedies.variable("NCCL_P2P_DISABLE", "1", note=_("Until then; slower.")),
        )
        yield Diagnosis(message, tuple(evidence), fixes, gpus=index_at(gpus, event.bus))
