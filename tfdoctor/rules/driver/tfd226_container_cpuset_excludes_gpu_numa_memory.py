"""TFD226 container-cpuset-excludes-gpu-numa-memory."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, NotApplicable, Severity
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules import _log


@rule("TFD226", Severity.ERROR)
def container_cpuset_excludes_gpu_numa_memory(
    log: LogMatch, platform: Optional[Platform], container: Optional[Container]
) -> Found:
    """The container may not use the NUMA nodes that are the GPU's memory, so CUDA cannot start in it.

    ## What it is
    On POWER9 (AC922) and some ARM systems the memory of each GPU is a NUMA node of its own. When the cpuset of a container
    was made before those nodes came up, they are missing in it, and CUDA fails to initialise.

    ## How it shows
    - `cudaSuccess (3 vs. 0)`, `CUDA_ERROR_NOT_INITIALIZED` in containers only
    - the same program works on the host

    ## How to be sure
    In the container `cat /sys/fs/cgroup/cpuset/cpuset.mems` (cgroup 2: `cpuset.mems.effective`) lacks the high nodes, such as
    250-255, that `/sys/devices/system/node/has_memory` lists on the host.

    ## What to do
    - Docker, Kubernetes on ppc64le: on the host write the full list of nodes to the parent cpuset slice, or start
      the services after nvidia-persistenced; then start the containers again.
    - x86_64, WSL2, Windows, macOS: does not arise.

    ## References
    - https://docs.kernel.org/admin-guide/cgroup-v1/cpusets.html
    - https://www.ibm.com/docs/en/wmlce
    """
    if platform is not None and platform.machine not in ("ppc64le", "aarch64"):
        raise NotApplicable(_("GPU memory is no NUMA node on this architecture"))
    if container is not None and not container.kind:
        raise NotApplicable(_("this is not a container"))
    message = _("CUDA does not start in the container because its cpuset lacks the NUMA nodes of the GPUs' memory.")
    evidence = [_log.line(log)]
    if platform is not None:
        evidence.append(Evidence(platform.machine, platform.source))
    note = _("Compare cpuset.mems of the container's slice with /sys/devices/system/node/has_memory on the host.")
    fix = remedies.by_hand(
        _("Add the GPUs' memory nodes to the cpuset of the containers' slice"), note=note, needs=("root",)
    )
    return Diagnosis(message, tuple(evidence), (fix,))
