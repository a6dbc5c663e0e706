"""TFD229 xid45-with-hung-driver."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Nvml
from tfdoctor.rules._hints import says_xid, xids


@rule("TFD229", Severity.ERROR)
def xid45_with_hung_driver(
    machine: GpuMachine, log: KernelLog, nvml: Optional[Nvml], smi: Optional[NvidiaSmi]
) -> Found:
    """The driver cleaned up after a program (Xid 45) and has hung since.

    ## What it is
    Xid 45 means that the driver removed a program's work from the GPU: after a crash, a `kill`, an out-of-memory kill. By
    itself it is only the trace of that. When the clean-up does not end, the driver hangs in the kernel, and so does everything
    that touches the GPU.

    ## How it shows
    - `NVRM: Xid (PCI:…): 45` in the kernel log, then `task … blocked for more than 120 seconds`
    - nvidia-smi never returns; processes in state D that `kill -9` does not end

    ## How to be sure
    `ps -eo pid,stat,comm | grep ' D'` shows them, and nvidia-smi hangs. Xid 45 with a driver that answers is harmless.

    ## What to do
    - Linux: reboot (a forced one where the shutdown hangs). Note the driver's version: newer ones mend some of these.
    - Docker, Kubernetes: drain the node, then reboot it. Slurm: the same.
    - WSL2: `wsl --shutdown`; Windows: restart.

    ## References
    - https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
    - https://github.com/leptonai/gpud/pull/117
    """
    events = xids(log, 45)
    hangs = (nvml is not None and nvml.state == "timed-out") or (smi is not None and smi.problem == "timed-out")
    if not events or not hangs:
        return None
    message = _("The driver has not answered since it cleaned up after a program (Xid 45 at {bus}).").format(
        bus=events[-1].bus
    )
    source = nvml.source if nvml is not None and nvml.state == "timed-out" else "nvidia-smi"
    evidence = (says_xid(events[-1], log), Evidence(_("no answer within the time limit"), source))
    return Diagnosis(message, evidence, (remedies.reboot(),))
