"""TFD121 thermal-limit-set-too-low."""

from __future__ import annotations

from collections.abc import Iterator

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.tables import Tables


@rule("TFD121", Severity.WARNING)
def thermal_limit_set_too_low(machine: GpuMachine, gpus: Gpus, tables: Tables) -> Iterator[Diagnosis]:
    """The GPU slows down for heat although it is cool: other software has set its temperature limit far too low.

    ## What it is
    The driver slows the GPU down at a limit that the platform may lower. On some laptops thermald or the vendor's thermal
    framework (DPTF) leaves it at values such as 57 °C, and the GPU never reaches its clocks.

    ## How it shows
    - `nvidia-smi -q`: `GPU Max Operating Temp : 57 C`, `SW Thermal Slowdown : Active` at 50 °C
    - low clocks from the first second on, the fans quiet

    ## How to be sure
    Stop thermald, or boot without the vendor's tool: the limit is 83 °C or more then.

    ## What to do
    - Linux: update thermald; `systemctl stop thermald` as a test; the laptop's performance profile (`powerprofilesctl set
      performance`); the firmware's newest version.
    - WSL2 and Windows: the vendor's power mode. Desktops and servers: does not arise.

    ## References
    - https://github.com/intel/thermal_daemon/issues/300
    - https://docs.nvidia.com/deploy/nvml-api/
    """
    least = tables.threshold("thermal-limit-plausible")
    for gpu in gpus:
        limit, now = gpu.temperature_max_operating, gpu.temperature
        slowed = gpu.throttle is not None and "sw-thermal" in gpu.throttle
        if limit is None or now is None or not slowed or limit >= least.value or now >= least.value:
            continue
        message = _(
            "{gpu} is slowed down for heat at {now} °C: its limit is set to {limit} °C, and {least} or more is usual."
        ).format(gpu=gpu.label, now=now, limit=limit, least=least.said)
        evidence = (
            Evidence(_("limit {limit} °C, software thermal slowdown active").format(limit=limit), gpus.source),
            Evidence(least.why, least.source),
        )
        fix = remedies.by_hand(
            _("Stop or update what sets the limit"), ("systemctl", "stop", "thermald"), needs=("root",)
        )
        yield Diagnosis(message, evidence, (fix,), gpus=(gpu.index,))
