"""TFD228 fabric-manager-not-running."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.fabric import Fabric
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.rules._hints import contained, returned, says_cuda, starts
from tfdoctor.rules.driver.tfd227_fabric_manager_version_mismatch import install_fabric_manager
from tfdoctor.tables import Tables

NOT_READY = 802  # CUDA_ERROR_SYSTEM_NOT_READY


@rule("TFD228", Severity.ERROR, caused_by=("TFD227",), blocks=True)
def fabric_manager_not_running(
    machine: GpuMachine,
    fabric: Optional[Fabric],
    gpus: Optional[Gpus],
    container: Optional[Container],
    kernel: Optional[KernelDriver],
    platform: Optional[Platform],
    tables: Tables,
    cuda: Optional[CudaDriver],
) -> Found:
    """This machine has NVSwitches, and the fabric manager that must join the GPUs through them does not run.

    ## What it is
    On HGX and DGX machines every GPU waits for the service nvidia-fabricmanager to set up the NVSwitches. Until then CUDA
    does not start, on any of the GPUs, although nvidia-smi lists them all.

    ## How it shows
    - `CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized` (802)
    - NCCL: `Cuda failure 'system not yet initialized'`
    - `nvidia-smi -q`: `Fabric … State : In Progress`, or `Not Started`

    ## How to be sure
    `systemctl status nvidia-fabricmanager` is not active, and `lspci -d 10de: | grep -i bridge` shows NVSwitches.

    ## What to do
    - Linux: install the fabric manager in exactly the driver's version, `systemctl enable --now nvidia-fabricmanager`.
      Fourth-generation NVSwitch (B200) also needs the packages nvlsm and libnvsdm.
    - It runs and the state stays in progress: `journalctl -u nvidia-fabricmanager`, then service.
    - Docker, Kubernetes, Slurm: on the host. A virtual machine with some of the GPUs: it runs on the hypervisor.

    ## References
    - https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html
    - https://github.com/NVIDIA/nccl/issues/1231
    """
    waiting = tuple(g for g in gpus or () if g.fabric_state in ("not-started", "in-progress"))
    done = any(g.fabric_state == "completed" for g in gpus or ())
    not_ready = returned(cuda, NOT_READY)
    if fabric is None or starts(cuda) or (done and not not_ready):
        return None  # without a switch in sight (a virtual machine with one GPU) the state means nothing
    idle = fabric.running is False and not contained(container)
    if not idle and not waiting and not not_ready:
        return None
    driver = kernel.loaded_version if kernel else ""
    wording = {
        True: _("The fabric manager runs but has not joined the GPUs through the {switches} NVSwitches{state}."),
        False: _("The fabric manager does not run, so the GPUs wait for the {switches} NVSwitches{state}."),
        None: _("The fabric manager has not joined the GPUs through the {switches} NVSwitches{state}."),
    }
    state = _(" (state: {state})").format(state=waiting[0].fabric_state) if waiting else ""
    message = wording[fabric.running].format(switches=fabric.switches, state=state)
    evidence = [Evidence(_("{switches} NVSwitches").format(switches=fabric.switches), fabric.source)]
    if cuda is not None and not_ready:
        evidence.insert(0, says_cuda(cuda, tables))
    if waiting and gpus is not None:
        evidence.append(Evidence(_("fabric state {state}").format(state=waiting[0].fabric_state), gpus.source))
    if fabric.version == "" and driver:
        return Diagnosis(message, tuple(evidence), (install_fabric_manager(platform, driver),))
    start = ("systemctl", "enable", "--now", "nvidia-fabricmanager")
    return Diagnosis(
        message, tuple(evidence), (remedies.by_hand(_("Start the fabric manager"), start, needs=("root",)),)
    )
