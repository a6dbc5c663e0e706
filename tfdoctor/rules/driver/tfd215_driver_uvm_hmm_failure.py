"""TFD215 driver-uvm-hmm-failure."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, NotApplicable, Severity
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.platform import Platform
from tfdoctor.rules import _log
from tfdoctor.rules._hints import on_wsl, returned, says_cuda
from tfdoctor.tables import Tables

NOT_INITIALIZED = 3  # CUDA_ERROR_NOT_INITIALIZED


@rule("TFD215", Severity.ERROR)
def driver_uvm_hmm_failure(
    tables: Tables,
    log: Optional[LogMatch],
    cuda: Optional[CudaDriver],
    platform: Optional[Platform],
    kernel: Optional[KernelDriver],
) -> Found:
    """CUDA fails to start because heterogeneous memory management in nvidia_uvm does not work on this machine.

    ## What it is
    The module nvidia_uvm uses the kernel's heterogeneous memory management (HMM) where it finds it, mostly with the open
    kernel modules. With some kernels (Enterprise Linux 9 and 10), firmwares and drivers of the 570 to 580 branches its
    set-up fails, and with it every cuInit.

    ## How it shows
    - `failed call to cuInit: CUDA_ERROR_NOT_INITIALIZED: initialization error` (3) in a fresh process that has not forked
    - PyTorch: `CUDA driver initialization failed, you might not have a CUDA gpu`
    - nvidia-smi works, `/dev/nvidia-uvm` exists

    ## How to be sure
    With `options nvidia_uvm uvm_disable_hmm=1` below `/etc/modprobe.d` and nvidia_uvm loaded afresh it works.
    `/proc/driver/nvidia/version` names the open kernel module. In a forked child process the same code is TFD607.

    ## What to do
    - Linux: set `uvm_disable_hmm=1` for nvidia_uvm, load it again or reboot; a newer driver may not need it.
    - Docker, Kubernetes: on the host. WSL2, Windows, macOS: does not arise.

    ## References
    - https://github.com/NVIDIA/open-gpu-kernel-modules/issues/797
    - https://github.com/NVIDIA/open-gpu-kernel-modules/issues/901
    - https://github.com/Dasharo/dasharo-issues/issues/1135
    """
    failed = returned(cuda, NOT_INITIALIZED)
    if log is None and not failed:
        raise NotApplicable(_("CUDA was not seen to fail like that"))
    if on_wsl(platform):
        raise NotApplicable(_("WSL has no nvidia_uvm"))
    evidence = [_log.line(log)] if log is not None else []
    if cuda is not None and failed:
        evidence.append(says_cuda(cuda, tables))
    flavour = ""
    if kernel is not None and kernel.loaded_version:
        flavour = kernel.flavour
        says = _("{flavour} kernel modules {version}").format(flavour=kernel.flavour, version=kernel.loaded_version)
        evidence.append(Evidence(says, kernel.source))
    message = _(
        'cuInit says "not initialized" although the driver works: HMM in nvidia_uvm fails here ({modules} kernel modules).'
    ).format(modules=flavour or _("unknown"))
    fix = remedies.by_hand(
        _("Switch HMM off in nvidia_uvm"),
        ("rmmod", "nvidia_uvm"),
        ("modprobe", "nvidia_uvm", "uvm_disable_hmm=1"),
        note=_('For good write "options nvidia_uvm uvm_disable_hmm=1" to /etc/modprobe.d/nvidia-uvm.conf.'),
        needs=("root",),
    )
    return Diagnosis(message, tuple(evidence), (fix,))
