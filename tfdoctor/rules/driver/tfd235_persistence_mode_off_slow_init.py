"""TFD235 persistence-mode-off-slow-init."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.rules._hints import listed
from tfdoctor.tables import Tables


@rule("TFD235", Severity.INFO)
def persistence_mode_off_slow_init(machine: GpuMachine, gpus: Gpus, platform: Platform, tables: Tables) -> Found:
    """Persistence mode is off, so the driver initialises the GPUs anew for every program that starts alone.

    ## What it is
    Without a display server nothing keeps the GPU open on Linux. When the last program ends, the driver shuts it down, and the
    next one waits until it is up again: a second or more for each GPU, much longer on large machines. Settings such as power
    limits are lost too.

    ## How it shows
    - the first CUDA call of every program takes 5 to 60 seconds, and is fast while another program holds the GPU
    - `nvidia-container-cli: initialization error: driver error: timed out` on machines with many GPUs

    ## How to be sure
    `nvidia-smi -q | grep Persistence` shows Disabled, and `time nvidia-smi` takes much more than two seconds.

    ## What to do
    - Linux: `systemctl enable --now nvidia-persistenced`; `nvidia-smi -pm 1` does it until the next boot.
    - Docker, Kubernetes, Slurm: on the host.
    - Windows and WSL2: the driver stays up by itself. Desktops with a display on the GPU: does not matter.

    ## References
    - https://docs.nvidia.com/deploy/driver-persistence/overview.html
    - https://github.com/NVIDIA/nvidia-docker/issues/723
    """
    if platform.system != "linux" or platform.wsl:
        return None
    off = [g for g in gpus if g.persistence is False and not g.display and not _held(g.processes)]
    several = tables.threshold("gpus-without-persistence")
    if len(off) < several.value:
        return None
    message = _(
        "Persistence mode is off on GPU {gpus}, so each program that starts alone waits for the driver to initialise it."
    ).format(gpus=listed(g.index for g in off))
    fix = remedies.by_hand(
        _("Keep the GPUs initialised"), ("systemctl", "enable", "--now", "nvidia-persistenced"), needs=("root",)
    )
    evidence = (Evidence(_("persistence mode disabled"), gpus.source), Evidence(several.why, several.source))
    return Diagnosis(message, evidence, (fix,), gpus=tuple(g.index for g in off))


def _held(processes: Optional[tuple[object, ...]]) -> bool:
    """Something (a display server) keeps the GPU open already."""
    return any(getattr(p, "kind", "") == "graphics" for p in processes or ())
