"""TFD120 nvswitch-error-fatal."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_log import KernelLog


@rule("TFD120", Severity.ERROR)
def nvswitch_error_fatal(machine: GpuMachine, log: KernelLog) -> Found:
    """An NVSwitch reported a fatal error, and the GPUs behind it are cut off from each other.

    ## What it is
    The switches that join the GPUs of an HGX or DGX machine log their own errors, SXids. A fatal one stops traffic through the
    switch: running programs die (Xid 74 on the GPUs), new ones may not start until the fabric is set up again.

    ## How it shows
    - `nvidia-nvswitch1: SXid (PCI:0000:…): 20034, Fatal, Link 30 LTSSM Fault Up`
    - `NVRM: Xid (PCI:…): 74` on several GPUs at the same time

    ## How to be sure
    `dmesg | grep SXid`: lines with `Fatal`. Lines with `Non-fatal` are counted and corrected by themselves.

    ## What to do
    - Linux: drain the node, stop everything on all GPUs, reboot; the fabric manager then sets the switches up again.
    - The same link again: service of the baseboard. NVIDIA's fabric manager guide lists each SXid.
    - Slurm, Kubernetes: drain. Cloud: give the instance back. Machines without NVSwitch, WSL2, Windows: does not arise.

    ## References
    - https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html
    - https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
    """
    fatal = [s for s in log.sxids if s.fatal]
    if not fatal:
        return None
    switches = sorted({s.switch for s in fatal})
    message = _("{count} fatal errors on NVSwitch {switches} since the machine started (SXid {code}).").format(
        count=len(fatal), switches=", ".join(switches), code=", ".join(str(c) for c in sorted({s.code for s in fatal}))
    )
    evidence = tuple(
        Evidence(_("SXid {code} at {switch}").format(code=s.code, switch=s.switch), log.source) for s in fatal[:3]
    )
    return Diagnosis(message, evidence, (remedies.reboot(), remedies.replace_hardware(_("the NVSwitch baseboard"))))
