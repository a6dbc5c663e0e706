"""TFD114 pcie-link-stuck-gen1."""

from __future__ import annotations

from collections.abc import Iterator

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.tables import Tables


@rule("TFD114", Severity.WARNING)
def pcie_link_stuck_gen1(machine: GpuMachine, gpus: Gpus, tables: Tables) -> Iterator[Diagnosis]:
    """The GPU is at work, and its PCIe link stays at the slowest generation.

    ## What it is
    A GPU lowers its link to generation 1 at rest and raises it at once when it works. A link that stays there under load could not
    be trained again: firmware of the board, a riser, signal quality. Some boards lose the GPU altogether a little later (TFD103).

    ## How it shows
    - `LnkSta: Speed 2.5GT/s (downgraded)` under load; `nvidia-smi -q`: `Device Current: 1` while utilisation is high
    - copies between host and GPU at less than a quarter of the usual rate

    ## How to be sure
    While a program copies or computes (performance state P0): `nvidia-smi --query-gpu=pstate,pcie.link.gen.current,pcie.link.gen.max
    --format=csv -l 1`. At rest generation 1 is right.

    ## What to do
    - Update the board's firmware and the driver; seat the card again; leave out risers.
    - Firmware: set the slot's generation by hand (4 instead of auto) as a test; switch off ASPM: `pcie_aspm=off`.
    - Do not pin the speed with `setpci`.
    - Servers, cloud: service. WSL2: the same on Windows.

    ## References
    - https://github.com/NVIDIA/open-gpu-kernel-modules/issues/1010
    - https://docs.nvidia.com/deploy/nvml-api/
    """
    busy = tables.threshold("gpu-busy").value
    for gpu in gpus:
        if not _stuck(gpu) or gpu.utilization is None or gpu.utilization < busy:
            continue
        message = _("{gpu} is {busy} % busy, and its PCIe link stays at generation {have} of {could}.").format(
            gpu=gpu.label, busy=gpu.utilization, have=gpu.pcie.generation, could=gpu.pcie.max_generation
        )
        evidence = (
            Evidence(
                _("performance state P{state}, generation {have}").format(
                    state=gpu.performance_state, have=gpu.pcie.generation
                ),
                gpus.source,
            ),
        )
        fix = remedies.by_hand(_("Update the board's firmware and the driver, seat the card again"), needs=("reboot",))
        yield Diagnosis(message, evidence, (fix,), gpus=(gpu.index,))


def _stuck(gpu: Gpu) -> bool:
    """In its working state (P0 to P2), at generation 1 although the link can do 3 or more."""
    working = gpu.performance_state is not None and gpu.performance_state <= 2
    return working and gpu.pcie.generation == 1 and (gpu.pcie.max_generation or 0) >= 3
