"""TFD601 cuda-visible-devices-hidden."""

from __future__ import annotations

from dataclasses import replace
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _, ngettext
from tfdoctor.model import Diagnosis, Evidence, Found, Severity, Unavailable
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.surroundings import Job
from tfdoctor.rules._hints import starts, tried
from tfdoctor.rules.configuration._visible import Visible, read

NAME = "CUDA_VISIBLE_DEVICES"


@rule("TFD601", Severity.ERROR, blocks=True)
def cuda_visible_devices_hidden(
    machine: GpuMachine,
    environment: Environment,
    gpus: Optional[Gpus],
    job: Optional[Job],
    cuda: Optional[CudaDriver],
) -> Found:
    """CUDA_VISIBLE_DEVICES hides the GPUs from every CUDA program, TensorFlow included.

    ## What it is
    The driver shows a program only the GPUs that this variable lists. Set to an empty text it hides all. The first entry that
    names no GPU hides itself and everything after it: -1, an index that does not exist, a word such as `all` or `none`, a
    UUID of another machine, a quotation mark that became part of the value. The same GPU twice leaves none. Inside the
    program the visible GPUs are counted from 0 again. nvidia-smi does not obey the variable.

    ## How it shows
    - `failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected`, while `nvidia-smi` lists GPUs
    - `kernel version seems to match DSO` in the lines after it: the driver is sound
    - Fewer GPUs than the machine has

    ## How to be sure
    `echo "[$CUDA_VISIBLE_DEVICES]"` where the program starts, and search the program for `os.environ["CUDA_VISIBLE_DEVICES"]`: a value that is
    set in code before the first use of CUDA counts, and tfdoctor cannot see it.

    ## What to do
    - Linux, WSL2: `unset CUDA_VISIBLE_DEVICES`, or an index that `nvidia-smi -L` lists, before Python starts; look into
      `~/.bashrc`, IDE settings and Jupyter kernels for where it comes from.
    - Windows: `set CUDA_VISIBLE_DEVICES=` in the shell, and the system's list of environment variables.
    - Docker, Kubernetes: in a container with one GPU its index is 0, whatever it is on the host. Choose with `--gpus` or the
      resource limit, not with this variable.
    - Slurm: the scheduler sets it for the job; do not override it, ask for GPUs (`--gres=gpu:N`).
    - macOS: does not arise.

    ## References
    - https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/environment-variables.html
    - https://github.com/numba/numba/issues/5793
    """
    if NAME not in environment.variables:
        return None
    value = environment.get(NAME)
    gpus = gpus if gpus is not None and not gpus.selected else None
    count = _count(machine, gpus)
    uuids = tuple(gpu.uuid for gpu in gpus or () if gpu.uuid)
    seen = read(value, count, uuids, _instances(gpus))
    if cuda is not None and cuda.finds_none and cuda.unhidden:
        return _seen_hidden(value, seen, environment, count, job, cuda)
    if not seen.chosen and not starts(cuda):
        return _all_hidden(value, seen, environment, count, job)
    if not tried(cuda) and seen.chosen and seen.unchecked == seen.chosen[0]:
        raise Unavailable(
            _("whether {entry} of {name} is a GPU of this machine is not known").format(entry=seen.unchecked, name=NAME)
        )
    if (
        not tried(cuda)
        and count is None
        and gpus is None
        and any(entry.isdigit() and int(entry) > 0 for entry in seen.chosen)
    ):
        raise Unavailable(
            _("how many GPUs there are is not known, and {name} lists {value}").format(name=NAME, value=value)
        )
    total = len(gpus) if gpus is not None else count
    if total is None or not seen.chosen or len(seen.chosen) >= total or _splits(gpus):
        return None
    ends = (
        _(" {entry} names no GPU, and nothing after it counts.").format(entry=repr(seen.stopped_at))
        if seen.stopped_at
        else ""
    )
    return Diagnosis(
        _("{name}={value} leaves {visible} of {total} GPUs visible.").format(
            name=NAME, value=value, visible=len(seen.chosen), total=total
        )
        + ends,
        evidence=(Evidence(f"{NAME}={value}", environment.source),),
        severity=Severity.INFO,
    )


def _count(machine: GpuMachine, gpus: Optional[Gpus]) -> Optional[int]:
    """How many indices there are; None where it is not known. With MIG the driver counts instances, not GPUs."""
    if gpus is None:
        return machine.count
    return None if _splits(gpus) or not len(gpus) else len(gpus)


def _instances(gpus: Optional[Gpus]) -> Optional[tuple[str, ...]]:
    """The UUIDs of the MIG instances; None where they are not all known."""
    if gpus is None or any(gpu.mig is None for gpu in gpus):
        return None
    found = tuple(instance.uuid for gpu in gpus for instance in gpu.mig_instances)
    return found if all(found) and all(gpu.mig_instances for gpu in gpus if gpu.mig) else None


def _splits(gpus: Optional[Gpus]) -> bool:
    return any(gpu.mig for gpu in gpus or ())


def _seen_hidden(
    value: str,
    seen: Visible,
    environment: Environment,
    count: Optional[int],
    job: Optional[Job],
    cuda: CudaDriver,
) -> Diagnosis:
    """CUDA was tried with and without the variable: that settles it, whatever our own reading of the value says."""
    counts = ngettext("without it CUDA counts {n} device", "without it CUDA counts {n} devices", cuda.unhidden or 0)
    says = Evidence(counts.format(n=cuda.unhidden), cuda.source)
    diagnosis = _all_hidden(value, seen, environment, count, job)
    if seen.chosen:
        message = _("{name} is set to {value}, which names no GPU of this machine, so no CUDA program sees one.")
        diagnosis = replace(diagnosis, message=message.format(name=NAME, value=repr(value)))
    return replace(diagnosis, evidence=(*diagnosis.evidence, says))


def _all_hidden(
    value: str, seen: Visible, environment: Environment, count: Optional[int], job: Optional[Job]
) -> Diagnosis:
    if seen.twice is not None:
        why = _("GPU {entry} is listed twice, which leaves none").format(entry=seen.twice)
    elif not value:
        why = _("an empty text hides every GPU")
    elif count is not None and (seen.stopped_at or "").isdigit():
        why = _("{entry} names no GPU, and the {count} here have indices up to {last}").format(
            entry=seen.stopped_at, count=count, last=count - 1
        )
    else:
        why = _("its first entry, {entry}, names no GPU").format(entry=repr(seen.stopped_at or ""))
    note = (
        _("The scheduler of this job sets it: ask for GPUs there instead.") if job and job.scheduler == "slurm" else ""
    )
    return Diagnosis(
        _("{name} is set to {value}, so no CUDA program sees a GPU: {why}.").format(
            name=NAME, value=repr(value), why=why
        ),
        evidence=(Evidence(f"{NAME}={value}", environment.source),),
        fixes=(remedies.variable(NAME, None, note=note),),
    )
