"""TFD124 rocm-pcie-atomics-missing."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, Severity
from tfdoctor.probes.pci import Pci
from tfdoctor.rules import _log


@rule("TFD124", Severity.ERROR)
def rocm_pcie_atomics_missing(log: LogMatch, pci: Optional[Pci]) -> Found:
    """The AMD GPU's slot does not pass PCIe atomic operations, which ROCm needs.

    ## What it is
    ROCm synchronises processor and GPU with PCIe atomic operations. Every bridge between the two must forward them. Slots behind the
    chipset, old processors, risers with switches and Thunderbolt boxes often do not, and then the driver leaves that GPU out.

    ## How it shows
    - `kfd kfd: amdgpu: skipped device 1002:…, PCI rejects atomics` in the kernel log
    - `rocminfo` lists fewer GPUs than `lspci`

    ## How to be sure
    `lspci -vvv` of each bridge above the GPU: `DevCap2: … AtomicOpsCap: Routing+`. A `Routing-` breaks the chain.

    ## What to do
    - Linux: put the card into a slot that belongs to the processor; leave out risers and switches; update the firmware.
    - GPUs that need no atomics with newer ROCm firmware (RDNA2 and later): update ROCm.
    - NVIDIA GPUs, WSL2, Windows: does not arise.

    ## References
    - https://rocm.docs.amd.com/en/latest/conceptual/pcie-atomics.html
    - https://github.com/ROCm/legacy-rocm-build/issues/755
    """
    amd = pci.amd_gpus if pci else ()
    message = _("The kernel left out an AMD GPU ({gpu}) because its slot does not pass PCIe atomic operations.").format(
        gpu=_log.value(log, "device", amd[0].address if amd else _("address not known"))
    )
    evidence = [_log.line(log)]
    if pci is not None:
        evidence.append(Evidence(_("{count} AMD GPUs on the bus").format(count=len(amd)), pci.source))
    fix = remedies.by_hand(_("Move the card to a slot that belongs to the processor"), needs=("reboot",))
    return Diagnosis(message, tuple(evidence), (fix,))
