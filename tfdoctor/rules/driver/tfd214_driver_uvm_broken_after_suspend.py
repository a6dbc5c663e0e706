"""TFD214 driver-uvm-broken-after-suspend."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, NotApplicable, Severity
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.platform import Platform
from tfdoctor.rules import _log
from tfdoctor.rules._hints import on_wsl, returned, says_cuda
from tfdoctor.tables import Tables

UNKNOWN = 999  # CUDA_ERROR_UNKNOWN


@rule("TFD214", Severity.ERROR)
def driver_uvm_broken_after_suspend(
    tables: Tables,
    log: Optional[LogMatch],
    cuda: Optional[CudaDriver],
    platform: Optional[Platform],
    kernel_log: Optional[KernelLog],
    nodes: Optional[DeviceNodes],
) -> Found:
    """The kernel module nvidia_uvm was left broken by suspend and resume, so that no new CUDA program starts.

    ## What it is
    `nvidia_uvm` manages the memory that CPU and GPU share. After a resume from suspend it can be left without its state.
    nvidia-smi does not use it and goes on working, which misleads.

    ## How it shows
    - `failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error` (999)
    - PyTorch: `CUDA unknown error - this may be due to an incorrectly set up environment`
    - everything worked before the machine slept, and works again after a reboot

    ## How to be sure
    `nvidia-smi` works, `/dev/nvidia-uvm` exists, and `journalctl -b -k | grep -i 'suspend exit'` shows a resume since boot.
    Without `/dev/nvidia-uvm` it is TFD216 instead.

    ## What to do
    - Linux: stop CUDA programs, then `rmmod nvidia_uvm` and `modprobe nvidia_uvm`.
    - For good: enable `nvidia-suspend.service`, `nvidia-resume.service` and `nvidia-hibernate.service`, and set
      `options nvidia NVreg_PreserveVideoMemoryAllocations=1` below `/etc/modprobe.d`.
    - Docker: on the host; running containers need a restart. WSL2: `wsl --shutdown`. Servers do not suspend.

    ## References
    - https://download.nvidia.com/XFree86/Linux-x86_64/550.54.14/README/powermanagement.html
    - https://github.com/ultralytics/ultralytics/issues/7716
    - https://github.com/gbionics/jaxsim/issues/50
    """
    failed = returned(cuda, UNKNOWN)
    if log is None and not failed:
        raise NotApplicable(_("CUDA was not seen to fail like that"))
    if on_wsl(platform) or (nodes is not None and nodes.get("/dev/nvidia-uvm") is None):
        raise NotApplicable(_("WSL, or /dev/nvidia-uvm does not exist"))
    if log is None and kernel_log is None:
        raise NotApplicable(_("whether the machine has slept is not known"))
    if kernel_log is not None and not kernel_log.of("resume"):
        raise NotApplicable(_("the machine has not resumed from suspend since it started"))
    evidence = [_log.line(log)] if log is not None else []
    if cuda is not None and failed:
        evidence.append(says_cuda(cuda, tables))
    if kernel_log is not None:
        evidence.append(Evidence(_("the machine has resumed from suspend since it started"), kernel_log.source))
        message = _("CUDA does not start since the machine resumed from suspend: nvidia_uvm lost its state.")
    else:
        message = _("CUDA does not start although nvidia-smi works; after a suspend that is nvidia_uvm's lost state.")
    fix = remedies.by_hand(
        _("Load nvidia_uvm afresh"),
        ("rmmod", "nvidia_uvm"),
        ("modprobe", "nvidia_uvm"),
        note=_(
            "Stop CUDA programs first. NVreg_PreserveVideoMemoryAllocations=1 with the nvidia-suspend services prevents it."
        ),
        needs=("root",),
    )
    return Diagnosis(message, tuple(evidence), (fix,))
