"""TFD237 driver-does-not-answer."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity, Unavailable
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Nvml
from tfdoctor.probes.platform import Platform


@rule("TFD237", Severity.ERROR, caused_by=("TFD103", "TFD107", "TFD120", "TFD229", "TFD230"), blocks=True)
def driver_does_not_answer(
    machine: GpuMachine, nvml: Optional[Nvml], smi: Optional[NvidiaSmi], platform: Optional[Platform]
) -> Found:
    """The NVIDIA driver does not answer: the call never returns, or the program that makes it crashes.

    ## What it is
    A question to the driver that takes no time on a healthy machine did not come back within the time limit, or killed the process
    that asked. The driver hangs in the kernel (after a lost GPU, a fault of the GPU's system processor, an unfinished clean-up), or
    its library is damaged.

    ## How it shows
    - nvidia-smi hangs, `kill -9` does not end it (state D)
    - TensorFlow hangs before its first line about devices
    - `INFO: task nvidia-smi:… blocked for more than 120 seconds` in the kernel log

    ## How to be sure
    `timeout 60 nvidia-smi; echo $?` prints 124 or 137. `dmesg | grep -E 'NVRM|Xid'` mostly names the reason.

    ## What to do
    - Linux: read the kernel log for Xids, then reboot; a forced power cycle where the shutdown hangs.
    - A crash instead of a hang: install the driver again, all of its packages in the same version.
    - Many GPUs without persistence mode can take long on the first call: try once more, then enable nvidia-persistenced.
    - WSL2: `wsl --shutdown`; Windows: restart. Docker, Kubernetes, Slurm: on the host; drain the node.

    ## References
    - https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
    - https://docs.nvidia.com/deploy/driver-persistence/overview.html
    """
    if nvml is None or nvml.state not in ("timed-out", "crashed"):
        if nvml is None and smi is not None and smi.problem == "timed-out":
            return _found(_("nvidia-smi did not answer within the time limit."), smi.source, platform)
        return None
    if smi is not None and smi.problem == "":
        raise Unavailable(_("NVML {state} while nvidia-smi worked").format(state=nvml.state))
    if nvml.state == "timed-out":
        return _found(_("The NVIDIA driver did not answer within the time limit."), nvml.source, platform)
    return _found(_("The NVIDIA driver's library crashed the process that asked it."), nvml.source, platform)


def _found(message: str, source: str, platform: Optional[Platform]) -> Diagnosis:
    fixes = [remedies.by_hand(_("Read what the kernel says"), ("dmesg",), needs=("root",)), remedies.reboot()]
    if platform is not None and platform.wsl:
        fixes = [remedies.by_hand(_("Restart WSL"), ("wsl.exe", "--shutdown"))]
    return Diagnosis(message, (Evidence(message, source),), tuple(fixes))
