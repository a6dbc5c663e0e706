"""TFD207 wsl-libcuda-not-on-path."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, NotApplicable, Severity
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.libraries import DriverLibrary
from tfdoctor.probes.surroundings import Container, Wsl
from tfdoctor.rules._hints import contained, starts

WSL_FOLDER = "/usr/lib/wsl/lib"


@rule("TFD207", Severity.ERROR, caused_by=("TFD205", "TFD206"), blocks=True)
def wsl_libcuda_not_on_path(
    machine: GpuMachine,
    wsl: Wsl,
    library: DriverLibrary,
    container: Optional[Container],
    environment: Optional[Environment],
    cuda: Optional[CudaDriver],
) -> Found:
    """Under WSL2 the loader does not find Windows's libcuda.so.1, or finds another one first.

    ## What it is
    Windows mounts its CUDA driver library at `/usr/lib/wsl/lib` and normally has the loader search there. A changed
    `/etc/ld.so.conf.d/ld.wsl.conf`, `automountLdConfig=false` in `/etc/wsl.conf`, an `LD_LIBRARY_PATH` with a stub or
    another libcuda, or a distribution with its own loader (NixOS, Conda shells) breaks that.

    ## How it shows
    - `failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected`
    - `Could not find cuda drivers on your machine` while `/usr/lib/wsl/lib/nvidia-smi` shows the GPU

    ## How to be sure
    `ldconfig -p | grep libcuda.so.1` must name `/usr/lib/wsl/lib/libcuda.so.1` first, and no folder of
    `LD_LIBRARY_PATH` may hold another `libcuda.so.1`.

    ## What to do
    - WSL2: put `/usr/lib/wsl/lib` first into `LD_LIBRARY_PATH`, and repair `/etc/ld.so.conf.d/ld.wsl.conf` for good.
    - Remove toolkit folders named `stubs` from `LD_LIBRARY_PATH`: they are for linking only.

    ## References
    - https://docs.nvidia.com/cuda/wsl-user-guide/index.html
    - https://learn.microsoft.com/en-us/windows/wsl/wsl-config
    """
    if contained(container):
        raise NotApplicable(_("in a container the toolkit mounts the driver's libraries elsewhere"))
    picked = library.picked
    if (
        starts(cuda)
        or not wsl.libcuda
        or (picked is not None and (picked.origin == "wsl" or picked.path.startswith("/usr/lib/wsl/")))
    ):
        return None
    found = picked.path if picked else _("no file")
    message = _("Under WSL2 libcuda.so.1 must come from {folder}, but the loader finds {found}.").format(
        folder=WSL_FOLDER, found=found
    )
    evidence = (
        Evidence(
            _("the loader finds {found} ({how})").format(found=found, how=library.how or _("nothing")), library.source
        ),
        Evidence(wsl.libcuda[0], wsl.source),
    )
    before = environment.get("LD_LIBRARY_PATH") if environment else ""
    path = f"{WSL_FOLDER}:{before}" if before else WSL_FOLDER
    return Diagnosis(message, evidence, (remedies.variable("LD_LIBRARY_PATH", path),))
