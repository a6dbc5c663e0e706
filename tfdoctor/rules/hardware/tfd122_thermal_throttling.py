"""TFD122 thermal-throttling."""

from __future__ import annotations

from collections.abc import Iterator

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.tables import Tables


@rule("TFD122", Severity.WARNING, caused_by=("TFD121",))
def thermal_throttling(machine: GpuMachine, gpus: Gpus, tables: Tables) -> Iterator[Diagnosis]:
    """The GPU is too hot and runs below its clocks because of it.

    ## What it is
    Near its limit the GPU lowers its clocks, in steps by software and to a half or less by hardware. Training becomes slower over the
    first minutes and stays so. It protects the card; it is a matter of cooling.

    ## How it shows
    - `nvidia-smi -q -d PERFORMANCE`: `SW Thermal Slowdown : Active` or `HW Thermal Slowdown : Active`
    - the time per step grows with the temperature; often taken for a regression of TensorFlow

    ## How to be sure
    `nvidia-smi dmon -s pc` during training: temperature rises to the limit, then the clock falls.

    ## What to do
    - Fans, dust, filters, air through the case; space between cards; a cooler room. Passive cards need a server's air stream.
    - A lower power limit (`nvidia-smi -pl`) often costs less speed than heat does.
    - Laptops: power mode, stand, cleaning. Servers, cloud: service; drain the node.
    - WSL2: the same on Windows.

    ## References
    - https://docs.nvidia.com/deploy/nvml-api/
    - https://github.com/tensorflow/tensorflow/issues/40042
    """
    margin = tables.threshold("thermal-slowdown-margin").value
    for gpu in gpus:
        reasons = (gpu.throttle or frozenset()) & {"sw-thermal", "hw-thermal"}
        if not reasons and _hot(gpu, margin):
            reasons = frozenset({"hw-slowdown"})
        if not reasons:
            continue
        message = _(
            "{gpu} is slowed down for heat at {now} °C (slowdown at {limit} °C): {clock} MHz of {most} MHz."
        ).format(
            gpu=gpu.label,
            now=gpu.temperature if gpu.temperature is not None else "?",
            limit=gpu.temperature_slowdown if gpu.temperature_slowdown is not None else "?",
            clock=gpu.clock_sm if gpu.clock_sm is not None else "?",
            most=gpu.clock_sm_max if gpu.clock_sm_max is not None else "?",
        )
        evidence = (Evidence(_("active: {reasons}").format(reasons=", ".join(sorted(reasons))), gpus.source),)
        fix = remedies.by_hand(
            _("Better cooling; until then a lower power limit"),
            ("nvidia-smi", "-i", str(gpu.index), "-pl", "WATTS"),
            needs=("root",),
        )
        yield Diagnosis(message, evidence, (fix,), gpus=(gpu.index,))


def _hot(gpu: Gpu, margin: float) -> bool:
    """The hardware slows it down, and the temperature says why."""
    slowed = gpu.throttle is not None and "hw-slowdown" in gpu.throttle
    known = gpu.temperature is not None and gpu.temperature_slowdown is not None
    return slowed and known and (gpu.temperature or 0) >= (gpu.temperature_slowdown or 0) - margin
