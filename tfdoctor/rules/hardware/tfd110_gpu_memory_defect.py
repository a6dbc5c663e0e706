"""TFD110 gpu-memory-defect."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, NotApplicable, Severity
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules import _log


@rule("TFD110", Severity.ERROR)
def gpu_memory_defect(log: LogMatch, gpus: Optional[Gpus]) -> Found:
    """Programs fail at random places on one card without ECC: its memory, or its clocks, are not sound.

    ## What it is
    GeForce and most workstation cards do not check their memory. A wrong bit becomes a wrong pointer, and the program dies at a
    place that differs each time. A defect is one reason; overclocking, too low a voltage, heat and a weak supply are others.

    ## How it shows
    - `CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure` or `CUDA_ERROR_ILLEGAL_ADDRESS` at changing operations
    - losses that turn NaN on one card only
    - the same program runs on another card with the same software

    ## How to be sure
    A memory test fails on that card (`memtest_vulkan`, `cuda_memtest`), and passes on another. Software faults fail at the same
    place on every card.

    ## What to do
    - Everywhere: factory clocks and voltages, no undervolting; look at temperatures, the memory's too; another power cable and supply.
    - Then the test again; then replace the card.
    - Cards with ECC (most data-centre cards) report it: TFD106. On workstation cards switch ECC on: `nvidia-smi -e 1`, reboot.

    ## References
    - https://github.com/GpuZelenograd/memtest_vulkan
    - https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
    """
    if gpus is not None and len(gpus) and all(g.ecc.enabled for g in gpus):
        raise NotApplicable(_("every GPU has ECC on, which would report it"))
    unchecked = [g for g in gpus or () if not g.ecc.enabled]
    message = _(
        "A program failed at a random place, and {gpu} does not check its memory: a defect or too high clocks may be why."
    ).format(gpu=unchecked[0].label if unchecked else _("this GPU"))
    evidence = [_log.line(log)]
    if unchecked and gpus is not None:
        evidence.append(Evidence(_("no ECC"), gpus.source))
    test = remedies.by_hand(_("Test the card's memory at factory clocks"), ("memtest_vulkan",))
    return Diagnosis(message, tuple(evidence), (test,), Severity.WARNING, tuple(g.index for g in unchecked))
