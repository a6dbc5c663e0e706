"""TFD245 kernel-time-limit-of-display."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line


@rule("TFD245", Severity.ERROR)
def kernel_time_limit_of_display(log: LogMatch) -> Found:
    """A kernel ran longer than a GPU that also drives a display may be busy, and the system ended it.

    ## What it is
    A GPU that draws the desktop cannot do so while a kernel computes. Windows resets a GPU that does not answer for two seconds
    (Timeout Detection and Recovery, TDR); Linux has a limit of some seconds on cards with a running X server. The program that
    computed is ended. Neither TensorFlow nor the card is broken; slow cards and large batches come to the limit first.

    ## How it shows
    - `CUDA_ERROR_LAUNCH_TIMEOUT: the launch timed out and was terminated`
    - Windows' event log: `Display driver nvlddmkm stopped responding and has successfully recovered`; the screen is black for a moment
    - On Windows also as `CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure` at changing places

    ## How to be sure
    `deviceQuery` of the CUDA samples prints `Run time limit on kernels: Yes`. With a smaller batch, or on a card without a display,
    the same program goes on.

    ## What to do
    - All systems: a smaller batch, so that each kernel takes less; compute on the card that has no display.
    - Windows: raise TDR's limit (NVIDIA Nsight Monitor, or the registry value `TdrDelay` below `GraphicsDrivers`) and restart. A card of the
      data centre kind can leave the display model altogether: `nvidia-smi -g 0 -dm 1`.
    - WSL2: the limit is that of Windows.
    - Linux: let the processor's own graphics draw the desktop, or end the display manager while training.
    - Docker, Kubernetes, Slurm: as on the host. macOS: does not arise.

    ## References
    - https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html
    - https://learn.microsoft.com/en-us/windows-hardware/drivers/display/tdr-registry-keys
    """
    return Diagnosis(
        _("A kernel took longer than the limit on a GPU that drives a display, and the system ended it."),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Take a smaller batch or a card without a display, or raise the limit")),),
    )
