"""TFD123 power-capped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.tables import Tables


@rule("TFD123", Severity.WARNING)
def power_capped(machine: GpuMachine, gpus: Gpus, tables: Tables) -> Iterator[Diagnosis]:
    """The GPU may use less power than it was made for, or the board tells it to hold back.

    ## What it is
    Each card has a default power limit. Somebody may have lowered it (to save power or noise), the data centre may have, or the
    power supply signals an emergency (power brake), which cuts the clocks to a fraction. Reaching the default limit under full
    load is normal and not reported.

    ## How it shows
    - `nvidia-smi -q -d POWER`: Current Power Limit below Default Power Limit
    - `HW Power Brake Slowdown : Active`: very low clocks at any temperature

    ## How to be sure
    `nvidia-smi --query-gpu=power.limit,power.default_limit,clocks_throttle_reasons.active --format=csv`.

    ## What to do
    - Linux: `nvidia-smi -i INDEX -pl WATTS` sets the limit until the driver is unloaded; look for the unit or script that lowers it.
    - Power brake: the power supplies, their cables and the server's management log.
    - Laptops change the limit all the time: no fault. Cloud: the provider's policy. WSL2: set it on Windows.

    ## References
    - https://docs.nvidia.com/deploy/nvml-api/
    - https://docs.nvidia.com/deploy/nvidia-smi/index.html
    """
    tolerance = tables.threshold("power-limit-tolerance").value
    for gpu in gpus:
        lowered = _lowered(gpu, tolerance)
        capped = gpu.throttle is not None and "sw-power-cap" in gpu.throttle
        if gpu.throttle is not None and "hw-power-brake" in gpu.throttle:
            message = _("{gpu}: the board's power brake holds it back ({clock} MHz of {most} MHz).").format(
                gpu=gpu.label,
                clock=gpu.clock_sm if gpu.clock_sm is not None else "?",
                most=gpu.clock_sm_max if gpu.clock_sm_max is not None else "?",
            )
            fix = remedies.by_hand(_("Look at the power supplies and the server's management log"))
            yield Diagnosis(message, (Evidence(_("active: power brake"), gpus.source),), (fix,), gpus=(gpu.index,))
        elif lowered is not None:
            message = _("{gpu} is limited to {have:.0f} W; its default is {default:.0f} W.").format(
                gpu=gpu.label, have=lowered, default=gpu.power_limit_default
            )
            command = ("nvidia-smi", "-i", str(gpu.index), "-pl", f"{gpu.power_limit_default:.0f}")
            fix = remedies.by_hand(_("Set the default power limit again"), command, needs=("root",))
            severity = None if capped else Severity.INFO
            yield Diagnosis(
                message,
                (Evidence(_("power limit {have:.0f} W").format(have=lowered), gpus.source),),
                (fix,),
                severity,
                (gpu.index,),
            )


def _lowered(gpu: Gpu, tolerance: float) -> Optional[float]:
    """The power limit, where somebody set it below the default. Laptops move it by themselves."""
    if gpu.power_limit is None or gpu.power_limit_default is None:
        return None
    if any(word in gpu.name for word in ("Laptop", "Mobile", "Max-Q")):
        return None
    return gpu.power_limit if gpu.power_limit < gpu.power_limit_default - tolerance else None
