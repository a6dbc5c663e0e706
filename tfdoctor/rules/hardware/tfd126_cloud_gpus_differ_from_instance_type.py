"""TFD126 cloud-gpus-differ-from-instance-type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.surroundings import Cloud, Container, Job
from tfdoctor.tables import Tables
from tfdoctor.tables.rows import Instance


@rule("TFD126", Severity.WARNING, caused_by=("TFD102", "TFD103", "TFD105"))
def cloud_gpus_differ_from_instance_type(
    machine: GpuMachine, gpus: Gpus, cloud: Cloud, container: Optional[Container], job: Optional[Job], tables: Tables
) -> Iterator[Diagnosis]:
    """The cloud instance shows fewer GPUs, or other ones, than its type comes with.

    ## What it is
    An instance type is sold with a certain number of GPUs of one model. When the machine shows fewer, a card has failed on
    the provider's side or was not passed through; when it shows another model, the type is not what it says. A job then
    runs with less than was paid for, or refuses to start on the missing rank.

    ## How it shows
    - `nvidia-smi -L` lists 7 GPUs on a type with 8
    - a distributed job waits for a rank that never comes, or fails with `invalid device ordinal`

    ## How to be sure
    `lspci -d 10de:` on the instance itself, outside any container or job that was given only some of the GPUs. The type
    is in the instance's metadata and in `/sys/class/dmi/id/product_name`.

    ## What to do
    - Stop the instance and start it again, which moves it to another machine; a reboot stays on the same one.
    - Tell the provider; keep `nvidia-bug-report.sh` of the broken machine.
    - In a cluster: take the node out until it is replaced.

    ## References
    - https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html
    - https://cloud.google.com/compute/docs/gpus
    - https://learn.microsoft.com/azure/virtual-machines/sizes/overview
    """
    row = tables.instance(cloud.instance_type) if cloud.instance_type else None
    if row is None:
        return
    given_some = bool(container and container.kind) or bool(job and job.scheduler)
    if not given_some and too_few(len(gpus), row):
        message = _("{type} should show {wanted} {gpu}, {have} are here.").format(
            type=cloud.instance_type, wanted=counts(row), gpu=row.gpu, have=len(gpus)
        )
        yield Diagnosis(message, _evidence(row, cloud), (_fix(),))
    others = [gpu for gpu in gpus if gpu.name and is_other(gpu.name, row, tables)]
    if others:
        message = _("{type} should show {wanted}, and {gpu} is here.").format(
            type=cloud.instance_type, wanted=row.gpu, gpu=others[0].label
        )
        yield Diagnosis(message, _evidence(row, cloud), (_fix(),), gpus=tuple(gpu.index for gpu in others))


def too_few(have: int, row: Instance) -> bool:
    """A family that comes in several sizes is only judged by counts that none of them has."""
    return bool(row.gpu_counts) and have not in row.gpu_counts and have < max(row.gpu_counts)


def counts(row: Instance) -> str:
    """ "8", or "1, 2 or 4" for a family that comes in several sizes."""
    *some, last = map(str, row.gpu_counts)
    return _("{some} or {last}").format(some=", ".join(some), last=last) if some else last


def is_other(name: str, row: Instance, tables: Tables) -> bool:
    """Another compute capability, or the same with another memory. What the tables do not know is no finding."""
    here, there = tables.gpu(name), tables.gpu(row.gpu)
    if here is None or there is None:
        return False
    if here.compute_capability != there.compute_capability:
        return True
    return bool(here.memory_gb and there.memory_gb) and not set(here.memory_gb) & set(there.memory_gb)


def _evidence(row: Instance, cloud: Cloud) -> tuple[Evidence, ...]:
    says = _("{name}: {counts} × {gpu}").format(
        name=row.name, counts=counts(row) if row.gpu_counts else "?", gpu=row.gpu
    )
    return (Evidence(cloud.instance_type, cloud.source), Evidence(says, row.source))


def _fix() -> Fix:
    note = _("A reboot stays on the same hardware.")
    return remedies.by_hand(_("Stop and start the instance, and tell the provider"), note=note)
