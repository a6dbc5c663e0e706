"""TFD118 nvlink-link-inactive."""

from __future__ import annotations

from collections.abc import Iterator

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules._hints import listed, siblings


@rule("TFD118", Severity.WARNING, caused_by=("TFD116", "TFD117"))
def nvlink_link_inactive(machine: GpuMachine, gpus: Gpus) -> Iterator[Diagnosis]:
    """Some NVLinks of one GPU are down that are up on its siblings.

    ## What it is
    On a baseboard with NVSwitches all GPUs of a kind have the same links. A link that is inactive on one of them did not come up
    when the machine started. The GPU works, with less bandwidth to the others, and so do all collectives with it.

    ## How it shows
    - `nvidia-smi nvlink -s`: `Link 7: <inactive>` on one GPU, rates on all others
    - AllReduce is slower than on other nodes of the same kind

    ## How to be sure
    Compare the GPUs: `nvidia-smi nvlink -s | grep -c inactive` for each index. After a cold start it is still there.

    ## What to do
    - Linux: reboot (cold), and look at `journalctl -u nvidia-fabricmanager` for links that failed to train.
    - It stays: service of baseboard or GPU. Meanwhile leave the GPU out of collectives with `CUDA_VISIBLE_DEVICES`.
    - MIG mode switches NVLink off: no fault. Cards without a bridge: no fault. Cloud: stop and start the instance.

    ## References
    - https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html
    - https://docs.nvidia.com/deploy/nvml-api/
    """
    for gpu in gpus:
        full = max((s.active_nvlinks for s in siblings(gpu, gpus)), default=0)
        down = [link.index for link in gpu.nvlinks or () if link.active is False]
        if not down or not 0 < gpu.active_nvlinks < full:
            continue
        message = _(
            "{gpu}: NVLinks {links} are down; {have} are up, and {full} on GPUs of the same model beside it."
        ).format(gpu=gpu.label, links=listed(down), have=gpu.active_nvlinks, full=full)
        evidence = (Evidence(_("links down: {links}").format(links=listed(down)), gpus.source),)
        yield Diagnosis(message, evidence, (remedies.reboot(), remedies.replace_hardware(gpu.label)), gpus=(gpu.index,))
