"""TFD224 cuda-compat-unsupported-gpu."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.libraries import DriverLibrary, LibraryFile
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.rules._hints import consumer, on_wsl, returned, same_driver, says_cuda, starts
from tfdoctor.tables import Tables

NOT_SUPPORTED = 804  # CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE


@rule("TFD224", Severity.ERROR, blocks=True)
def cuda_compat_unsupported_gpu(
    machine: GpuMachine,
    tables: Tables,
    platform: Optional[Platform],
    gpus: Optional[Gpus],
    library: Optional[DriverLibrary],
    kernel: Optional[KernelDriver],
    environment: Optional[Environment],
    cuda: Optional[CudaDriver],
) -> Found:
    """NVIDIA's cuda-compat library is loaded on a GeForce, which forward compatibility does not support.

    ## What it is
    The package cuda-compat holds a newer libcuda that can sit on an older kernel driver. NVIDIA allows that for data-centre GPUs
    and some workstation cards; on a GeForce or TITAN it refuses. CUDA images carry it in `/usr/local/cuda/compat`.

    ## How it shows
    - `CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE`
    - `Error 804: forward compatibility was attempted on non supported HW`

    ## How to be sure
    `ldconfig -p | grep libcuda.so.1` or `LD_LIBRARY_PATH` leads to `/usr/local/cuda*/compat`, and nvidia-smi names a GeForce.

    ## What to do
    - Take the compat folder out of `LD_LIBRARY_PATH` (and remove its file below `/etc/ld.so.conf.d`, then `ldconfig`): the
      host's driver often suffices, because one driver serves a whole CUDA major version.
    - Otherwise a newer driver on the host, or an image with an older CUDA.
    - Docker: `apt-get remove 'cuda-compat-*'` in the image; a newer container toolkit no longer mounts it on such cards.
    - Kubernetes, Slurm: the same, in the image. WSL2, Windows: does not arise.

    ## References
    - https://docs.nvidia.com/deploy/cuda-compatibility/forward-compatibility.html
    - https://i.hsfzxjy.site/diving-from-the-cuda-error-804-into-a-bug-of-libnvidia-container/
    """
    picked = library.picked if library else None
    loaded = kernel.loaded_version if kernel else ""
    if on_wsl(platform) or starts(cuda):
        return None
    if cuda is not None and returned(cuda, NOT_SUPPORTED):
        return _refused(cuda, picked, loaded, environment, tables)
    if picked is None or picked.origin != "compat" or gpus is None:
        return None
    if loaded and picked.version and same_driver(picked.version, loaded):
        return None
    refused = tuple(g for g in gpus if consumer(tables, g))
    if not refused:
        return None
    message = _(
        "{path} (version {have}) is loaded over kernel driver {loaded}, and {gpu} does not support forward compatibility."
    ).format(path=picked.path, have=picked.version or "?", loaded=loaded or "?", gpu=refused[0].label)
    evidence = (
        Evidence(
            _("libcuda.so.1 is {path} ({how})").format(path=picked.path, how=library.how if library else ""),
            library.source if library else "",
        ),
        Evidence(refused[0].name, gpus.source),
    )
    return Diagnosis(message, evidence, _fixes(environment), gpus=tuple(g.index for g in refused))


def _refused(
    cuda: CudaDriver,
    picked: Optional[LibraryFile],
    loaded: str,
    environment: Optional[Environment],
    tables: Tables,
) -> Diagnosis:
    """CUDA itself says that forward compatibility is not for this GPU."""
    message = _(
        "{path} (version {have}) is loaded over kernel driver {loaded}, and CUDA refuses: this GPU does not support forward compatibility."
    ).format(
        path=picked.path if picked else cuda.path or "libcuda.so.1",
        have=(picked.version if picked else "") or "?",
        loaded=loaded or "?",
    )
    return Diagnosis(message, (says_cuda(cuda, tables),), _fixes(environment))


def _fixes(environment: Optional[Environment]) -> tuple[Fix, ...]:
    before = environment.get("LD_LIBRARY_PATH") if environment else ""
    kept = ":".join(folder for folder in before.split(":") if folder and "compat" not in folder)
    remove = remedies.by_hand(_("Remove cuda-compat"), ("apt-get", "remove", "cuda-compat-*"), needs=("root",))
    return (remove,) if kept == before else (remedies.variable("LD_LIBRARY_PATH", kept or None), remove)
