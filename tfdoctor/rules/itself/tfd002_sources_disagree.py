"""TFD002 sources-disagree."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.nvml import Gpus


@rule("TFD002", Severity.WARNING)
def sources_disagree(gpus: Gpus) -> Found:
    """Two sources say different things about the GPUs of this machine.

    ## What it is
    tfdoctor asks the driver's library first and compares with nvidia-smi, the PCI bus and /proc. Where they differ, at least one is
    wrong or old: the library belongs to another driver version, a GPU has just been lost, or a recording was put together from several
    moments.

    ## How it shows
    - only in tfdoctor's own output, with both values

    ## How to be sure
    Look at both yourself: `nvidia-smi -q` and `lspci -nn -d 10de:`; in a recording at the times of its files.

    ## What to do
    - Live: run `tfdoctor check` again. If it stays, reboot, so that kernel module and libraries are of one version.
    - A recording: make a new one with `tfdoctor record`.
    - A container that hides some GPUs: the PCI bus shows more than the driver, and that is fine.

    ## References
    - https://docs.nvidia.com/deploy/nvml-api/
    - https://docs.nvidia.com/deploy/nvidia-smi/index.html
    """
    if not gpus.disagreements:
        return None
    message = _("{count} contradictions between sources, the first: {first}").format(
        count=len(gpus.disagreements), first=gpus.disagreements[0]
    )
    evidence = tuple(Evidence(says, gpus.source) for says in gpus.disagreements)
    return Diagnosis(
        message,
        evidence,
        (remedies.by_hand(_("Look at both sources"), ("nvidia-smi", "-q"), ("lspci", "-nn", "-d", "10de:")),),
    )
