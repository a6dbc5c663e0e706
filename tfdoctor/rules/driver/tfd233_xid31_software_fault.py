"""TFD233 xid31-software-fault."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules._hints import index_at, name_at, says_xid, xids


@rule("TFD233", Severity.INFO, caused_by=("TFD106", "TFD107", "TFD108"))
def xid31_software_fault(machine: GpuMachine, log: KernelLog, gpus: Optional[Gpus]) -> Found:
    """A program used GPU memory that is not its own (Xid 31): almost always a fault of the program or a driver module.

    ## What it is
    Xid 31 is a page fault of the GPU's memory management unit: a program read or wrote an address that is not mapped. The
    program dies, the GPU goes on.

    ## How it shows
    - `NVRM: Xid (PCI:…): 31, pid=…, … MMU Fault: ENGINE GRAPHICS … faulted @ 0x…`
    - in the program: `CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered`

    ## How to be sure
    The same address in every run, or on several GPUs: software. Only one card of several, with any program: suspect the
    card. The line names the process; a desktop program (browser, compositor) has nothing to do with TensorFlow.

    ## What to do
    - Everywhere: look at custom operations and at the batch that was being worked on; `compute-sanitizer python program.py`
      names the kernel. Update TensorFlow within its minor release, and the driver.
    - The open kernel modules and an application that needs more than they support: another driver branch.

    ## References
    - https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
    - https://github.com/tinygrad/tinygrad/issues/6947
    """
    events = [e for e in xids(log, 31) if e.process == "" or "python" in e.process.lower()]
    if not events:
        return None
    last = events[-1]
    message = _(
        "A program used memory that is not its own on {gpu} since the machine started (Xid 31, {count} times)."
    ).format(gpu=name_at(gpus, last.bus), count=len(events))
    fix = remedies.by_hand(_("Find the failing kernel"), ("compute-sanitizer", "python", "PROGRAM.py"))
    return Diagnosis(message, (says_xid(last, log),), (fix,), gpus=index_at(gpus, last.bus))
