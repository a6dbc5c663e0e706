"""TFD108 ecc-contained-application-killed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules._hints import first_per_bus, index_at, name_at, says_xid, xids


@rule("TFD108", Severity.WARNING, caused_by=("TFD106", "TFD107"))
def ecc_contained_application_killed(machine: GpuMachine, log: KernelLog, gpus: Optional[Gpus]) -> Iterator[Diagnosis]:
    """A memory error on the GPU killed one program (Xid 94); the GPU itself goes on.

    ## What it is
    An uncorrectable error was confined to the program that used the memory. That program was ended, the page was taken out of use, and
    others were not touched. The row is replaced by a spare one at the next reset.

    ## How it shows
    - `NVRM: Xid (PCI:0000:…): 94, pid=…, name=python, Contained: …`, mostly with Xid 48 and 63 beside it
    - in the program: `CUDA_ERROR_ECC_UNCORRECTABLE`

    ## How to be sure
    The line says Contained and names one process; `nvidia-smi -q -d ROW_REMAPPER` shows `Pending : Yes` and no failure.

    ## What to do
    - Everywhere: start the job again from its last checkpoint.
    - Linux: reset the GPU (or reboot) at the next pause, so that the spare row is used.
    - Once is life; again and again on the same card means replacement (TFD106).
    - Kubernetes, Slurm: nothing at once; mark the node for a reset. GeForce: does not arise.

    ## References
    - https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html
    - https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
    """
    events = xids(log, 94)
    for event in first_per_bus(events):
        count = sum(1 for e in events if e.bus == event.bus)
        message = _(
            "{gpu}: a memory error killed one program (Xid 94, {count} times since the machine started); others were not touched."
        ).format(gpu=name_at(gpus, event.bus), count=count)
        yield Diagnosis(
            message, (says_xid(event, log),), (remedies.reset_gpu(event.bus),), gpus=index_at(gpus, event.bus)
        )
