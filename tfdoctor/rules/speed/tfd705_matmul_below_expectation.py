"""TFD705 matmul-below-expectation."""

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


@rule("TFD705", Severity.WARNING, caused_by=("TFD121", "TFD122", "TFD123", "TFD615"))
def matmul_below_expectation(smoke: SmokeResults, gpus: Optional[Gpus], tables: Tables) -> Iterator[Diagnosis]:
    """Matrix products reach far less than this GPU's rate.

    ## What it is
    The smoke test measured the product of large matrices in each number format. The rate is below a generous share of the
    dense peak that the vendor states for this model.

    ## How it shows
    Training is slow although the GPU is busy.

    ## How to be sure
    `nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,TEMPERATURE` while `tfdoctor smoke --test matmul` runs; the evidence lists what
    was sampled.

    ## What to do
    - Clocks held back by heat: cooling. By power: the limit (`nvidia-smi -q -d POWER`), the supply.
    - Another process computes on the card: choose another card or wait.
    - Laptop: mains power and the performance profile.

    ## References
    - https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html
    """
    reasons = expectation.reasons(smoke, "matmul", gpus, None, tables)
    yield from below(expectation.matmul(smoke, tables), reasons, smoke.source)
