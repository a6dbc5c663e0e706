"""TFD107 ecc-uncontained-reset-needed."""

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


@rule("TFD107", Severity.ERROR, caused_by=("TFD106",))
def ecc_uncontained_reset_needed(machine: GpuMachine, log: KernelLog, gpus: Optional[Gpus]) -> Iterator[Diagnosis]:
    """A memory error on the GPU could not be contained to one program (Xid 95): the GPU must be reset.

    ## What it is
    From A100 on the GPU confines an uncorrectable memory error to the program whose data it was (Xid 94). Where that
    fails, everything that ran on the GPU may have computed wrong values, and the driver runs nothing more there until a reset.

    ## How it shows
    - `NVRM: Xid (PCI:0000:…): 95, … Uncontained ECC error`
    - all programs on that GPU die with `CUDA_ERROR_ECC_UNCORRECTABLE`, new ones cannot start

    ## How to be sure
    The kernel log since the last reset or boot: `dmesg | grep 'Xid.*: 95'`.

    ## What to do
    - Linux: drain, stop every program on the GPU (on NVSwitch machines: on all GPUs), `nvidia-smi --gpu-reset -i BUS`, or reboot.
    - Afterwards look at the remapped rows (TFD109) and count: returning errors mean replacement (TFD106).
    - Throw away what was computed at the time: checkpoints written after the event.
    - Kubernetes, Slurm: drain the node. Cloud: stop and start. WSL2, Windows, GeForce: does not arise.

    ## References
    - https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html
    - https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
    """
    for event in first_per_bus(xids(log, 95)):
        message = _("{gpu} had a memory error that hit more than one program (Xid 95); it needs a reset.").format(
            gpu=name_at(gpus, event.bus)
        )
        yield Diagnosis(
            message, (says_xid(event, log),), (remedies.reset_gpu(event.bus),), gpus=index_at(gpus, event.bus)
        )
