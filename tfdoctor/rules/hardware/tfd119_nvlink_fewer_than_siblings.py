"""TFD119 nvlink-fewer-than-siblings."""

from __future__ import annotations

from collections.abc import Iterator

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules._hints import siblings


@rule("TFD119", Severity.WARNING, caused_by=("TFD116", "TFD117", "TFD118"))
def nvlink_fewer_than_siblings(machine: GpuMachine, gpus: Gpus) -> Iterator[Diagnosis]:
    """One GPU has fewer NVLinks up than GPUs of the same model beside it.

    ## What it is
    GPUs on one NVSwitch baseboard are joined alike. One with fewer links, or with none, is shut out of part of the fabric or of all
    of it: it works alone, and slows down or breaks whatever runs over all GPUs.

    ## How it shows
    - `nvidia-smi topo -m`: PHB, NODE or SYS in the row of one GPU, and NV18 (or NV12) everywhere else
    - NCCL uses PCIe for that GPU; AllReduce falls to a fraction

    ## How to be sure
    `nvidia-smi nvlink -s` for each GPU, counted. Not counted as a fault: MIG mode, and cards that have no bridge.

    ## What to do
    - Linux: `journalctl -u nvidia-fabricmanager`, cold reboot; then service of baseboard or GPU.
    - Meanwhile leave that GPU out: `CUDA_VISIBLE_DEVICES`.
    - Slurm, Kubernetes: drain the node. Cloud: stop and start the instance. Desktops, WSL2: does not arise.

    ## References
    - https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html
    - https://docs.nvidia.com/deploy/nvml-api/
    """
    for gpu in gpus:
        full = max((s.active_nvlinks for s in siblings(gpu, gpus)), default=0)
        if gpu.nvlinks is None or gpu.lost or gpu.active_nvlinks >= full:
            continue
        message = _("{gpu} has {have} NVLinks up, and GPUs of the same model beside it have {full}.").format(
            gpu=gpu.label, have=gpu.active_nvlinks, full=full
        )
        evidence = (
            Evidence(_("active NVLinks: {have} of {full}").format(have=gpu.active_nvlinks, full=full), gpus.source),
        )
        yield Diagnosis(message, evidence, (remedies.reboot(), remedies.replace_hardware(gpu.label)), gpus=(gpu.index,))
