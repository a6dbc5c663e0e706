"""TFD109 row-remap-pending-reset-needed."""

from __future__ import annotations

from collections.abc import Iterator

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus


@rule("TFD109", Severity.WARNING, caused_by=("TFD106", "TFD107", "TFD108"))
def row_remap_pending_reset_needed(machine: GpuMachine, gpus: Gpus) -> Iterator[Diagnosis]:
    """A weak part of the GPU's memory is to be replaced by a spare one, at the next reset.

    ## What it is
    The GPU has set a memory row (before Ampere: a page) aside and takes a spare row for it when it is reset. Until then
    jobs run; the faulty place is avoided. It is no reason to return the card.

    ## How it shows
    - `Remapped Rows … Pending : Yes` in `nvidia-smi -q`
    - `NVRM: Xid (PCI:…): 63, … Row Remapper: New row marked for remapping, reset gpu to activate.`
    - older cards: `Pending Page Blacklist : Yes`

    ## How to be sure
    `nvidia-smi -q -d ROW_REMAPPER`: `Pending : Yes` and `Remapping Failure Occurred : No`. With a failure it is TFD106.

    ## What to do
    - Linux: at the next pause stop all programs on the GPU and reset it (`nvidia-smi --gpu-reset -i INDEX`), or reboot.
    - Kubernetes, Slurm: drain the node when convenient. Cloud: stop and start the instance.
    - When only corrected errors caused it, there is no hurry at all. GeForce, WSL2: does not arise.

    ## References
    - https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html
    - https://docs.nvidia.com/deploy/dynamic-page-retirement/index.html
    """
    for gpu in gpus:
        if not gpu.rows.pending or gpu.rows.failed:
            continue
        what = _("pages") if gpu.rows.pages else _("rows")
        message = _(
            "{gpu}: a reset is due so that faulty memory is replaced ({what} set aside: {corrected} after correctable, {uncorrected} after uncorrectable errors)."
        ).format(gpu=gpu.label, what=what, corrected=gpu.rows.corrected or 0, uncorrected=gpu.rows.uncorrected or 0)
        mild = gpu.rows.uncorrected == 0
        evidence = (Evidence(_("pending: yes, failure: no"), gpus.source),)
        yield Diagnosis(
            message, evidence, (remedies.reset_gpu(gpu.bus),), Severity.INFO if mild else None, (gpu.index,)
        )
