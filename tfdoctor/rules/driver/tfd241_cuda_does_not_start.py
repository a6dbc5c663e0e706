"""TFD241 cuda-does-not-start."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity, Unavailable
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import contained, cuda_error, on_wsl, returned, says_cuda
from tfdoctor.tables import Tables

CAUSES = (
    *("TFD102", "TFD103", "TFD104", "TFD105", "TFD107", "TFD120"),  # hardware
    *("TFD201", "TFD202", "TFD205", "TFD206", "TFD207"),  # not installed, another version, WSL
    *("TFD210", "TFD211", "TFD212", "TFD213", "TFD214", "TFD215", "TFD216", "TFD217"),  # kernel and device nodes
    *("TFD220", "TFD221", "TFD222", "TFD223", "TFD224", "TFD225"),  # containers and schedulers
    *("TFD227", "TFD228", "TFD229", "TFD230", "TFD237", "TFD238", "TFD239", "TFD240"),
)
#: CUDA_ERROR_NOT_INITIALIZED, …OPERATING_SYSTEM, …UNKNOWN: what a broken or missing nvidia_uvm makes cuInit return.
UVM = (3, 304, 999)
#: Functions without which TensorFlow lists nothing at all; the others concern one GPU.
FOR_ALL = ("cuInit", "cuDeviceGetCount")


@rule("TFD241", Severity.ERROR, caused_by=CAUSES, blocks=True)
def cuda_does_not_start(
    machine: GpuMachine,
    tables: Tables,
    cuda: Optional[CudaDriver],
    gpus: Optional[Gpus],
    platform: Optional[Platform],
    container: Optional[Container],
) -> Found:
    """CUDA does not start on this machine, tried as TensorFlow does it.

    ## What it is
    The first thing that TensorFlow does with a GPU is to call `cuInit` of the driver's libcuda and to count the devices. tfdoctor
    does the same in a process of its own, and there it failed. The particular reasons (a missing device node, another version,
    a container without GPUs, the fabric manager) have diagnoses of their own, under which this one is folded. Standing alone
    it means that none of them could be seen; the error code below is the best hint.

    ## How it shows
    - `failed call to cuInit: CUDA_ERROR_…` or `UNKNOWN ERROR (…)` in TensorFlow's log, and `list_physical_devices('GPU')` is `[]`
    - nvidia-smi may work: it does not start CUDA

    ## How to be sure
    `python -c "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0))"` prints 0 on a sound machine, else the code.

    ## What to do
    - Linux: read the last lines of `dmesg`. 999, 3 and 304 often come from nvidia_uvm: unload it and load it again, or reboot.
    - 100 (no device) while nvidia-smi lists GPUs: device nodes, the user's groups, cgroups, MIG without an instance.
    - 46 or a hang: another process holds the GPU, or it needs a reset.
    - Docker, Kubernetes: try the same on the host; if it works there, start the container again. Slurm: ask for a GPU.
    - WSL2: `wsl --shutdown`, then a newer driver on Windows.

    ## References
    - https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html
    - https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__INITIALIZE.html
    """
    if cuda is None or cuda.works or _explained(cuda, gpus):
        return None
    if cuda.state == "unknown":
        raise Unavailable(cuda.error or _("whether CUDA starts could not be tried"))
    return Diagnosis(
        _message(cuda, machine, gpus, tables),
        (says_cuda(cuda, tables), Evidence(machine.evidence, machine.source)),
        (_fix(cuda, tables, platform, container),),
        severity=None if _certain(cuda) else Severity.WARNING,
    )


def _explained(cuda: CudaDriver, gpus: Optional[Gpus]) -> bool:
    """CUDA finds no device because CUDA_VISIBLE_DEVICES hides them (TFD601) or MIG has no instance (TFD605)."""
    uncut = gpus is not None and len(gpus) > 0 and all(g.mig and not g.mig_instances for g in gpus)
    return cuda.finds_none and (bool(cuda.unhidden) or uncut)


def _certain(cuda: CudaDriver) -> bool:
    """A driver that takes longer than the limit may still come up, and a function of one GPU may spare the others."""
    return (
        cuda.state in ("crashed", "not-loaded")
        or cuda.finds_none
        or (cuda.state == "failed" and cuda.function in FOR_ALL)
    )


def _message(cuda: CudaDriver, machine: GpuMachine, gpus: Optional[Gpus], tables: Tables) -> str:
    if cuda.state == "not-loaded":
        return _("libcuda.so.1 cannot be loaded: {error}.").format(error=cuda.error.rstrip("."))
    if cuda.state == "timed-out":
        return _("CUDA does not start within the time limit: {function} does not return.").format(
            function=cuda.function
        )
    if cuda.state == "crashed":
        return _("Starting CUDA crashes the process in {function}.").format(function=cuda.function or "libcuda")
    listed = len([g for g in gpus if not g.lost]) if gpus is not None else 0
    there = _("the driver lists {count}").format(count=listed) if listed else machine.evidence
    if cuda.finds_none:
        return _("CUDA finds no GPU, although there is one ({there}).").format(there=there)
    row = tables.error(str(cuda.code), api="cuda-driver")
    return _("CUDA does not start, although there is a GPU ({there}): {function} returns {code}, {meaning}.").format(
        there=there,
        function=cuda.function,
        code=cuda_error(cuda, tables),
        meaning=row.meaning if row else _("a code that tfdoctor does not know"),
    )


def _fix(cuda: CudaDriver, tables: Tables, platform: Optional[Platform], container: Optional[Container]) -> Fix:
    row = tables.error(str(cuda.code), api="cuda-driver") if cuda.state == "failed" else None
    note = row.advice[:1].upper() + row.advice[1:] + "." if row and row.advice else ""
    if on_wsl(platform):
        return remedies.by_hand(_("Restart WSL, then update NVIDIA's driver on Windows"), ("wsl.exe", "--shutdown"))
    if contained(container):
        return remedies.by_hand(
            _("Try the same on the container's host; if CUDA starts there, start the container again"), note=note
        )
    if returned(cuda, *UVM):
        commands = (("rmmod", "nvidia_uvm"), ("modprobe", "nvidia_uvm"), ("dmesg",))
        note = _("Stop CUDA programs first. The last lines of the kernel log tell more; a reboot does the same.")
        return remedies.by_hand(_("Load nvidia_uvm afresh"), *commands, note=note, needs=("root",))
    return remedies.by_hand(_("Read what the kernel says"), ("dmesg",), note=note, needs=("root",))
