"""TFD605 mig-one-instance-per-process."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, NotApplicable, Severity
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules._hints import starts


# An error where CUDA was seen to find no device for want of an instance; good to know otherwise.
@rule("TFD605", Severity.ERROR, blocks=True)
def mig_one_instance_per_process(
    machine: GpuMachine, gpus: Gpus, environment: Optional[Environment], cuda: Optional[CudaDriver]
) -> Found:
    """With MIG on, one process sees one MIG instance, however many there are.

    ## What it is
    MIG cuts a GPU (A30, A100, H100 and newer) into instances with memory and processors of their own. CUDA lets one process
    use exactly one of them: several instances of one GPU, or instances of several GPUs, never appear together in a
    program. `MirroredStrategy` over instances is therefore not possible.

    ## How it shows
    - `list_physical_devices('GPU')` has one entry although `nvidia-smi -L` lists several MIG devices
    - `Invalid CUDA device index`, `device < num_gpus INTERNAL ASSERT FAILED` for every index but 0

    ## How to be sure
    `nvidia-smi -L` shows lines with `MIG 3g.40gb … (UUID: MIG-…)`; `nvidia-smi --query-gpu=mig.mode.current --format=csv` says Enabled.

    ## What to do
    - Linux: choose one instance per process with `CUDA_VISIBLE_DEVICES=MIG-…` and run several processes.
    - Training on the whole GPU or on several: (root) `nvidia-smi -i N -mig 0`, with no program on it.
    - MIG on and no instance made: (root) `nvidia-smi mig -cgi PROFILE -C`, or turn MIG off.
    - Docker: `--gpus '"device=0:0"'`. Kubernetes: resources `nvidia.com/mig-…`. Slurm: `--gres=gpu:PROFILE:1`.
    - Windows, WSL2, macOS: MIG does not exist there.

    ## References
    - https://github.com/pytorch/pytorch/issues/130181
    - https://docs.nvidia.com/datacenter/tesla/mig-user-guide/
    """
    split = tuple(gpu for gpu in gpus if gpu.mig)
    if not split:
        raise NotApplicable(_("MIG is off"))
    instances = sum(len(gpu.mig_instances) for gpu in split)
    chosen = environment.get("CUDA_VISIBLE_DEVICES") if environment else ""
    if chosen.startswith("MIG-") and "," not in chosen:
        return None
    if not instances and len(split) == len(gpus) and not starts(cuda):
        none = cuda is not None and cuda.finds_none
        return Diagnosis(
            _("MIG is on for {gpus}, and no MIG instance was seen: without one CUDA finds no device.").format(
                gpus=", ".join(gpu.label for gpu in split)
            ),
            evidence=(Evidence(_("MIG mode enabled, no instance listed"), gpus.source),),
            fixes=(
                remedies.by_hand(
                    _("Turn MIG off, or make an instance"),
                    ("nvidia-smi", "-i", str(split[0].index), "-mig", "0"),
                    needs=("root",),
                ),
            ),
            severity=None if none else Severity.WARNING,
        )
    if instances < 2 and len(gpus) < 2:
        return None
    return Diagnosis(
        _("MIG is on for {gpus} with {count} instances in all; one process sees one of them.").format(
            gpus=", ".join(gpu.label for gpu in split), count=instances
        ),
        evidence=(Evidence(_("{count} MIG instances").format(count=instances), gpus.source),),
        fixes=(
            remedies.by_hand(_("Choose one with CUDA_VISIBLE_DEVICES=MIG-… for each process"), ("nvidia-smi", "-L")),
        ),
        severity=Severity.INFO,
    )
