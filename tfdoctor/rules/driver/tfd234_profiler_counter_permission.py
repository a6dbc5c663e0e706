"""TFD234 profiler-counter-permission."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, Severity
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules import _log
from tfdoctor.rules._hints import contained


@rule("TFD234", Severity.WARNING)
def profiler_counter_permission(log: LogMatch, kernel: Optional[KernelDriver], container: Optional[Container]) -> Found:
    """The driver lets only administrators read the GPU's performance counters, so the profiler has no GPU data.

    ## What it is
    Since 2019 NVIDIA's driver restricts performance counters to root by default. TensorFlow itself does not need them; its
    profiler does, through CUPTI, and then records the host only.

    ## How it shows
    - `CUPTI_ERROR_INSUFFICIENT_PRIVILEGES`
    - Nsight tools: `ERR_NVGPUCTRPERM`
    - TensorBoard's profile has no device timeline

    ## How to be sure
    `grep RmProfilingAdminOnly /proc/driver/nvidia/params` prints 1. If instead CUPTI could not be loaded at all, the log
    names `libcupti.so`: that is a library fault.

    ## What to do
    - Linux: `options nvidia NVreg_RestrictProfilingToAdminUsers=0` below `/etc/modprobe.d`, build the initial ramdisk again, reboot;
      or run the profiling job as root.
    - Docker: `--cap-add=SYS_ADMIN`. Kubernetes: `securityContext.capabilities.add: [SYS_ADMIN]`.
    - Windows and WSL2: NVIDIA control panel, developer settings, GPU performance counters: allow for all users.
    - Slurm and shared machines: ask whoever runs them.

    ## References
    - https://developer.nvidia.com/nvidia-development-tools-solutions-err_nvgpuctrperm-permission-issue-performance-counters
    - https://github.com/PaddlePaddle/Paddle/issues/35857
    """
    only_root = kernel.params.get("RmProfilingAdminOnly") if kernel else None
    message = _("The profiler may not read the GPU's performance counters (RmProfilingAdminOnly is {value}).").format(
        value=only_root if only_root is not None else _("not known")
    )
    evidence = [_log.line(log)]
    if only_root is not None and kernel is not None:
        evidence.append(Evidence(f"RmProfilingAdminOnly: {only_root}", "/proc/driver/nvidia/params"))
    note = _('Write "options nvidia NVreg_RestrictProfilingToAdminUsers=0" to /etc/modprobe.d/nvidia-profiling.conf.')
    fixes = [remedies.by_hand(_("Open the counters to all users"), note=note, needs=("root", "reboot"))]
    if contained(container):
        add = ("docker", "run", "--cap-add=SYS_ADMIN", "--gpus", "all", "IMAGE")
        fixes.insert(0, remedies.by_hand(_("Start the container with SYS_ADMIN"), add))
    return Diagnosis(message, tuple(evidence), tuple(fixes))
