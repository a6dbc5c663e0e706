"""TFD205 wsl1-or-old-wsl-kernel."""

from __future__ import annotations

import re
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.surroundings import Wsl
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.hardware.tfd101_no_gpu_machine import FIRST_KERNEL


@rule("TFD205", Severity.ERROR, blocks=True)
def wsl1_or_old_wsl_kernel(wsl: Wsl, tensorflow: Optional[TensorFlow]) -> Found:
    """This is WSL1, or a WSL2 kernel from before GPU support, so Linux programs cannot reach the GPU.

    ## What it is
    Windows gives its GPU to WSL2 only, through `/dev/dxg` and the libraries that it mounts at `/usr/lib/wsl/lib`, and only
    to kernels from 4.19.121 on. WSL1 translates system calls and has no devices at all.

    ## How it shows
    - `Could not load dynamic library 'libcuda.so.1'`, `Could not find cuda drivers on your machine`
    - `uname -r` ends in `-Microsoft` with 4.4.0 (WSL1), or is below 4.19.121
    - neither `/dev/dxg` nor `/usr/lib/wsl/lib` exists

    ## How to be sure
    In PowerShell `wsl --list --verbose`: the column VERSION shows 1 for this distribution. `wsl --version` names the kernel.

    ## What to do
    - Windows (PowerShell): `wsl --set-version DISTRIBUTION 2`, then `wsl --update` and `wsl --shutdown`.
    - Windows 10 needs 21H2 or newer, and NVIDIA's driver must be installed on Windows, not inside WSL.
    - Docker Desktop: choose the WSL2 engine.

    ## References
    - https://learn.microsoft.com/en-us/windows/wsl/tutorials/gpu-compute
    - https://docs.nvidia.com/cuda/wsl-user-guide/index.html
    - https://github.com/microsoft/DirectML/issues/18
    """
    if tensorflow is not None and tensorflow.cuda_build is False:
        return None  # a CPU-only TensorFlow would not use a GPU on WSL2 either
    evidence = (Evidence(_("kernel {kernel}").format(kernel=wsl.kernel), wsl.source),)
    if wsl.version == 1:
        message = _("This is WSL1 (kernel {kernel}), which has no access to GPUs; WSL2 has.").format(kernel=wsl.kernel)
        move = ("wsl.exe", "--set-version", "DISTRIBUTION", "2")
        return Diagnosis(
            message, evidence, (remedies.by_hand(_("Move this distribution to WSL2"), move, ("wsl.exe", "--update")),)
        )
    numbers = tuple(int(n) for n in re.findall(r"[0-9]+", wsl.kernel)[:3])
    if wsl.dxg or len(numbers) < 3 or numbers >= FIRST_KERNEL:
        return None
    message = _("The WSL2 kernel is {kernel}, and GPUs need 4.19.121 or newer.").format(kernel=wsl.kernel)
    fix = remedies.by_hand(_("Update WSL"), ("wsl.exe", "--update"), ("wsl.exe", "--shutdown"))
    return Diagnosis(message, evidence, (fix,))
