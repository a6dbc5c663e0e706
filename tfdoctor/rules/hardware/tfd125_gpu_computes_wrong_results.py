"""TFD125 gpu-computes-wrong-results."""

from __future__ import annotations

from collections.abc import Iterator

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.remedies import by_hand


@rule("TFD125", Severity.ERROR)
def gpu_computes_wrong_results(smoke: SmokeResults) -> Iterator[Diagnosis]:
    """A device computes results that rounding cannot explain.

    ## What it is
    A smoke test compares what a device computes with mathematics (a product with a random projection in float64, a
    convolution with its adjoint, an AllReduce with the known sum). The deviation is above what the number format
    allows, so memory, a link or a library corrupts data.

    ## How it shows
    Loss that becomes NaN, training that does not converge, results that change from run to run. No error message.

    ## How to be sure
    Run `tfdoctor smoke --test NAME` again, on each GPU alone with `--devices`. A fault of one card stays with the card;
    one that shows only with several GPUs is in the path between them (peer-to-peer through an IOMMU with ACS).

    ## What to do
    - One card: test its memory with the vendor's tool (`dcgmi diag -r 3` on data-center GPUs), then replace it.
    - Several cards only: `NCCL_P2P_DISABLE=1` as a stop-gap, then IOMMU and ACS settings.
    - Overclocked card: back to its default clocks.

    ## References
    - https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/dcgm-diagnostics.html
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
    """
    for result in smoke.results:
        for check in result.checks if result.state == "wrong" else ():
            if check.ok:
                continue
            message = _("{what} is off by {error:.3g}; rounding explains at most {limit:.3g}.")
            yield Diagnosis(
                message.format(what=check.what, error=check.error, limit=check.limit),
                (Evidence(_("smoke test {test}").format(test=result.test), smoke.source),),
                (
                    by_hand(
                        _("Repeat on each GPU alone"), ("tfdoctor", "smoke", "--test", result.test, "--devices", "0")
                    ),
                ),
            )
