"""TFD221 gpu-contained-by-scheduler."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.surroundings import Job
from tfdoctor.rules._hints import forbidden_by_cgroup, job_without_gpu, no_gpu_nodes


@rule("TFD221", Severity.ERROR, blocks=True)
def gpu_contained_by_scheduler(
    machine: Optional[GpuMachine], job: Optional[Job], nodes: Optional[DeviceNodes], gpus: Optional[Gpus]
) -> Found:
    """The job scheduler gave this job no GPU.

    ## What it is
    Slurm (with cgroups) and Kubernetes let a job see only the GPUs that it asked for. The node may be full of GPUs, and
    this job still has none: they cannot be opened, or are not in the container at all.

    ## How it shows
    - `failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected`
    - nvidia-smi: `No devices were found`, while it lists GPUs outside the job
    - `SLURM_JOB_GPUS` is not set, or `NVIDIA_VISIBLE_DEVICES=void` in a pod

    ## How to be sure
    Slurm: `scontrol show job $SLURM_JOB_ID` has no `gres/gpu` under TRES. Kubernetes: the pod's
    `resources.limits` has no `nvidia.com/gpu`.

    ## What to do
    - Slurm: `srun --gres=gpu:1 …` or `#SBATCH --gres=gpu:1`, in a partition with GPUs. `srun` inside a job needs it again.
    - Kubernetes: `resources.limits: {nvidia.com/gpu: 1}` in the container's specification.
    - Other schedulers (LSF, PBS, SGE): their own GPU request.
    - Login nodes mostly have no GPU at all.

    ## References
    - https://slurm.schedmd.com/gres.html
    - https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
    """
    if not job_without_gpu(job) or job is None:
        return None
    if (
        gpus is not None
        and len(gpus) > 0
        and not (nodes and nodes.gpus and all(forbidden_by_cgroup(n) for n in nodes.gpus))
    ):
        return None  # the scheduler says nothing of them, and they can be used
    shut = no_gpu_nodes(nodes) or (
        nodes is not None and bool(nodes.gpus) and all(forbidden_by_cgroup(n) for n in nodes.gpus)
    )
    if not shut and not (gpus is not None and len(gpus) == 0):
        return None
    message = _("This {scheduler} job was given no GPU, and none can be opened from it.").format(
        scheduler=job.scheduler.capitalize()
    )
    evidence = [Evidence(_("{scheduler} states no GPU for this job").format(scheduler=job.scheduler), job.source)]
    if machine is not None:
        evidence.append(Evidence(machine.evidence, machine.source))
    return Diagnosis(message, tuple(evidence), (_ask(job),))


def _ask(job: Job) -> Fix:
    if job.scheduler == "kubernetes":
        return remedies.container_with_gpus("kubernetes")
    return remedies.by_hand(_("Ask Slurm for a GPU"), ("srun", "--gres=gpu:1", "python", "PROGRAM.py"))
