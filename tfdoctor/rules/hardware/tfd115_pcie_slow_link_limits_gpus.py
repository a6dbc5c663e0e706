"""TFD115 pcie-slow-link-limits-gpus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.probes.pci import Pci
from tfdoctor.rules._hints import on_bus
from tfdoctor.tables import Tables


@rule("TFD115", Severity.INFO, caused_by=("TFD111", "TFD112", "TFD113", "TFD114"))
def pcie_slow_link_limits_gpus(
    machine: GpuMachine, gpus: Gpus, tables: Tables, pci: Optional[Pci]
) -> Iterator[Diagnosis]:
    """The GPU's PCIe link cannot do what the card could, which bounds copies to and from the host.

    ## What it is
    The link runs at the lower of what card and board offer, in generation and in lanes. A PCIe 4 card on a PCIe 3 board copies at
    half its rate. Training hardly notices when data stays on the GPU; it does when every step moves much data, or when several
    GPUs exchange gradients without NVLink.

    ## How it shows
    - copies between host and GPU at the lower rate, measured by the smoke test or `nvbandwidth`
    - several GPUs gain less than expected; AllReduce is at the link's limit

    ## How to be sure
    `nvidia-smi -q -d PCIE` (newer drivers) names Device Max and Host Max; `lspci -vv` the lanes. Speed now says nothing at rest.

    ## What to do
    - Know it: keep data on the GPU, `tf.data` with `prefetch`, smaller input types (uint8 instead of float32), larger batches per GPU.
    - Another slot or board, where there is one. Cloud: it is the machine type's design.
    - WSL2, Windows: the same card in the same slot, the same bound.

    ## References
    - https://www.tensorflow.org/guide/data_performance
    - https://docs.nvidia.com/deploy/nvml-api/
    """
    for gpu in gpus:
        card, have = _lanes(gpu), gpu.pcie.width
        card_generation, generation = gpu.pcie.gpu_max_generation or _known(gpu, tables), _reachable(gpu, pci)
        now = tables.pcie(generation) if generation else None
        best = tables.pcie(card_generation) if card_generation else None
        if now is None or best is None or not card or not have:
            continue
        rate, could = now.gbs(have), best.gbs(card)
        if rate >= could:
            continue
        message = _(
            "{gpu} is joined by PCIe {generation} x{lanes} ({rate:.0f} GB/s in each direction); the card could do PCIe {best} x{card} ({could:.0f} GB/s)."
        ).format(
            gpu=gpu.label, generation=generation, lanes=have, rate=rate, best=card_generation, card=card, could=could
        )
        evidence = (
            Evidence(_("PCIe link of {bus}").format(bus=gpu.bus), gpus.source),
            Evidence(_("rate per lane"), now.source),
        )
        fix = remedies.by_hand(_("Use a slot with more lanes or of a newer generation, where there is one"))
        yield Diagnosis(message, evidence, (fix,), gpus=(gpu.index,))


def _lanes(gpu: Gpu) -> Optional[int]:
    return gpu.pcie.max_width


def _known(gpu: Gpu, tables: Tables) -> Optional[int]:
    row = tables.gpu(gpu.name)
    return row.pcie_generation if row else None


def _reachable(gpu: Gpu, pci: Optional[Pci]) -> Optional[int]:
    """The generation that the link can reach here: the lower of what card and port can do."""
    ends = [gpu.pcie.max_generation, gpu.pcie.host_max_generation]
    for device in pci.nvidia_gpus if pci else ():
        if on_bus(gpu, device.address) and device.upstream:
            ends.append(device.upstream[0].max_generation)
    known = [end for end in ends if end]
    return min(known) if known else None
