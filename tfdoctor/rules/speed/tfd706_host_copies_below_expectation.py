"""TFD706 host-copies-below-expectation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor.engine import rule
from tfdoctor.model import Diagnosis, Severity
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.rules._rates import below
from tfdoctor.smoke import expectation
from tfdoctor.tables import Tables


@rule("TFD706", Severity.WARNING, caused_by=("TFD111", "TFD114", "TFD115"))
def host_copies_below_expectation(smoke: SmokeResults, gpus: Optional[Gpus], tables: Tables) -> Iterator[Diagnosis]:
    """Copies between host and GPU reach far less than the PCIe link's rate.

    ## What it is
    The smoke test copied large blocks both ways from pinned memory. The rate is below a generous share of what the link
    carries at the generation and width that it had during the copy.

    ## How it shows
    Input pipelines starve the GPU; steps with large batches are slow.

    ## How to be sure
    `nvidia-smi -q -d PCI` (generation and width under load), `lspci -vv` (LnkSta against LnkCap), and the NUMA node of the
    GPU against that of the process.

    ## What to do
    - A narrow or slow link: another slot, reseat, firmware settings for lanes.
    - Two sockets: run the process on the GPU's NUMA node (`numactl --cpunodebind`).
    - Virtual machine: ask for the instance type with the full link.

    ## References
    - https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html#data-transfer-between-host-and-device
    """
    reasons = expectation.reasons(smoke, "copies", gpus, None, tables)
    yield from below(expectation.copies(smoke, gpus, tables), reasons, smoke.source)
