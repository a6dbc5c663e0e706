"""TFD232 xid13-application-fault."""

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


@rule("TFD232", Severity.INFO, caused_by=("TFD106", "TFD107", "TFD108"))
def xid13_application_fault(machine: GpuMachine, log: KernelLog, gpus: Optional[Gpus]) -> Found:
    """A kernel of a program did something illegal on the GPU (Xid 13): a fault of that program, not of the machine.

    ## What it is
    Xid 13 is an exception in running GPU code: an access outside an array, an illegal instruction, a wrong alignment. The
    program that ran it dies; other programs and the GPU are fine.

    ## How it shows
    - `NVRM: Xid (PCI:…): 13, pid=…, Graphics SM Warp Exception`
    - in the program: `CUDA_ERROR_ILLEGAL_ADDRESS`, `CUDA_ERROR_LAUNCH_FAILED`, `CUDA_ERROR_ILLEGAL_INSTRUCTION`

    ## How to be sure
    The process in the line is the program that failed, and other programs work on the same GPU. When different, proven
    programs fail and always on the same card, suspect its memory (TFD110) or its overclocking instead.

    ## What to do
    - Everywhere: find the operation. `TF_GPU_ALLOCATOR=cuda_malloc_async` off and `CUDA_LAUNCH_BLOCKING=1` make the failing line
      visible; `compute-sanitizer python program.py` names the kernel. Custom operations come first.
    - Try the newest patch release of TensorFlow and another cuDNN.
    - Overclocked consumer cards: standard clocks.

    ## References
    - https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
    - https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/index.html
    """
    events = xids(log, 13)
    if not events:
        return None
    last = events[-1]
    message = _(
        "A program's GPU code failed on {gpu} since the machine started (Xid 13, {count} times); the GPU itself is not at fault."
    ).format(gpu=name_at(gpus, last.bus), count=len(events))
    fix = remedies.by_hand(_("Find the failing kernel"), ("compute-sanitizer", "python", "PROGRAM.py"))
    return Diagnosis(message, (says_xid(last, log),), (fix,), gpus=index_at(gpus, last.bus))
