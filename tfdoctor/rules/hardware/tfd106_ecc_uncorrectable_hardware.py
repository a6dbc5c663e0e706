"""TFD106 ecc-uncorrectable-hardware."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.rules._hints import on_bus, says_xid, xids
from tfdoctor.tables import Tables


@rule("TFD106", Severity.ERROR)
def ecc_uncorrectable_hardware(
    machine: GpuMachine, gpus: Gpus, tables: Tables, log: Optional[KernelLog]
) -> Iterator[Diagnosis]:
    """The GPU's memory has errors that ECC cannot correct.

    ## What it is
    ECC corrects single wrong bits; two in one word it can only report. Then the program that used the data is killed. DRAM rows
    that fail are replaced by spare ones (row remapping); when no spare is left, or the errors are in the chip's own SRAM, the card is
    defective. Errors of the card's life that were remapped are no fault by themselves.

    ## How it shows
    - `CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered` (214)
    - Xid 48 in the kernel log; Xid 64 when the remapping itself failed
    - `Remapping Failure Occurred : Yes` in `nvidia-smi -q`

    ## How to be sure
    `nvidia-smi -q -d ECC,ROW_REMAPPER`: Volatile uncorrectable above zero (since the driver was loaded); Aggregate SRAM
    uncorrectable above 4; or a remapping failure. Corrected errors alone are harmless.

    ## What to do
    - Linux: stop the jobs, reset the GPU or reboot. Volatile counts must then stay at zero.
    - It returns, or remapping failed, or the SRAM threshold is passed: `nvidia-bug-report.sh` and replacement (RMA).
    - Cloud: stop and start the instance; Slurm, Kubernetes: drain the node.
    - WSL2, Windows: the same counters in Windows's nvidia-smi. GeForce cards have no ECC.

    ## References
    - https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html
    - https://docs.nvidia.com/deploy/dynamic-page-retirement/index.html
    - https://github.com/stas00/ml-engineering/blob/master/compute/accelerator/nvidia/debug.md#uncorrectable-ecc-error-encountered
    """
    limit = tables.threshold("sram-uncorrectable-errors")
    contained = {x.bus for x in xids(log, 94, 95)}  # those have their own diagnoses
    for gpu in gpus:
        sram = gpu.ecc.sram_aggregate_uncorrected
        recent = gpu.ecc.volatile_uncorrected
        double = [x for x in xids(log, 48) if on_bus(gpu, x.bus) and x.bus not in contained]
        if gpu.rows.failed:
            message = _(
                "{gpu}: replacing a faulty row of its memory failed ({rows} rows replaced so far); the card is defective."
            ).format(gpu=gpu.label, rows=(gpu.rows.corrected or 0) + (gpu.rows.uncorrected or 0))
            yield _diagnosis(gpu, message, Evidence(_("remapping failure occurred"), gpus.source), None)
        elif sram is not None and sram > limit.value:
            message = _(
                "{gpu}: {count} uncorrectable errors in the chip's own memory over its life; more than {limit} call for replacement."
            ).format(gpu=gpu.label, count=sram, limit=int(limit.value))
            yield _diagnosis(gpu, message, Evidence(limit.why, limit.source), None if limit.solid else Severity.WARNING)
        elif recent or double:
            message = _("{gpu}: {count} uncorrectable memory errors since the driver was loaded; healthy is 0.").format(
                gpu=gpu.label, count=recent or len(double)
            )
            evidence = (
                says_xid(double[0], log)
                if double and log
                else Evidence(_("volatile uncorrectable: {count}").format(count=recent), gpus.source)
            )
            yield _diagnosis(gpu, message, evidence, Severity.WARNING)


def _diagnosis(gpu: Gpu, message: str, evidence: Evidence, severity: Optional[Severity]) -> Diagnosis:
    fixes = [remedies.reset_gpu(gpu.bus), remedies.replace_hardware(gpu.label)]
    return Diagnosis(message, (evidence,), tuple(fixes if severity else fixes[1:]), severity, (gpu.index,))
