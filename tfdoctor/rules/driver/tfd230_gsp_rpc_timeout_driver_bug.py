"""TFD230 gsp-rpc-timeout-driver-bug."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import Driver, Gpus, Nvml
from tfdoctor.probes.platform import Platform
from tfdoctor.rules._hints import at, first_per_bus, index_at, name_at, says_xid, works, xids


@rule("TFD230", Severity.ERROR, caused_by=("TFD103", "TFD117", "TFD120"))
def gsp_rpc_timeout_driver_bug(
    machine: GpuMachine,
    log: KernelLog,
    driver: Optional[Driver],
    nvml: Optional[Nvml],
    gpus: Optional[Gpus],
    platform: Optional[Platform],
) -> Iterator[Diagnosis]:
    """The GPU's system processor stopped answering the driver (Xid 119 or 120).

    ## What it is
    From Turing on part of the driver runs on the GPU itself, on the GSP. Xid 119 says that a call to it timed out, Xid 120
    that it failed. Mostly that is a bug of driver and firmware (525 before 525.105.17 is known for it); with NVLink or memory errors
    near it in time it is their consequence.

    ## How it shows
    - `NVRM: Xid (PCI:…): 119, … Timeout after 6s of waiting for RPC response from GPU… GSP`
    - nvidia-smi hangs or shows `ERR!`; new programs hang at their first CUDA call

    ## How to be sure
    The kernel log around the line: Xid 74, 94, 95 or 79 before it point to hardware or links, nothing to the driver.

    ## What to do
    - Linux: reboot (or reset the GPU), then update the driver to a newer release of its branch.
    - Until then the proprietary modules can run without the GSP: `options nvidia NVreg_EnableGpuFirmware=0`. The open ones cannot.
    - Returns with a current driver, always on one GPU: have it serviced.
    - Docker, Kubernetes, Slurm: drain the node; all of it happens on the host. WSL2: update the driver on Windows.

    ## References
    - https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
    - https://docs.nvidia.com/datacenter/tesla/index.html
    """
    for event in first_per_bus(xids(log, 119, 120)):
        gpu = at(gpus, event.bus)
        well = works(nvml) and gpu is not None and not gpu.lost
        version = driver.version if driver else _("version not known")
        message = _(
            "{gpu}: its system processor did not answer the driver ({version}): Xid {code} since the machine started."
        ).format(gpu=name_at(gpus, event.bus), version=version, code=event.code)
        evidence = [says_xid(event, log)]
        if driver is not None:
            evidence.append(Evidence(_("driver {version}").format(version=driver.version), driver.source))
        fixes = (remedies.reboot(), remedies.install_driver(platform))
        yield Diagnosis(message, tuple(evidence), fixes, Severity.WARNING if well else None, index_at(gpus, event.bus))
