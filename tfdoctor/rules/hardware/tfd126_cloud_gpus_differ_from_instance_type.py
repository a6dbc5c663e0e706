"""TFD126 cloud-gpus-differ-from-instance-type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.instances import counts, differences
from tfdoctor.model import Diagnosis, Evidence, Fix, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.surroundings import Cloud, Container, Job
from tfdoctor.tables import Tables
from tfdoctor.tables.hardware_rows import Instance


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
    is in the instance's metadata, on AWS in `/sys/class/dmi/id/product_name`, on Azure in cloud-init's
    `/run/cloud-init/instance-data.json`. Google's machines do not tell it without the network; there
    `tfdoctor check --require instance=a2-highgpu-8g` compares with the table.

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
    for message, others in differences(cloud.instance_type, row, gpus, tables, container, job):
        yield Diagnosis(message, _evidence(row, cloud), (_fix(),), gpus=others)


def _evidence(row: Instance, cloud: Cloud) -> tuple[Evidence, ...]:
    says = _("{name}: {counts} × {gpu}").format(
        name=row.name, counts=counts(row) if row.gpu_counts else "?", gpu=row.gpu
    )
    return (Evidence(cloud.instance_type, cloud.source), Evidence(says, row.source))


def _fix() -> Fix:
    note = _("A reboot stays on the same hardware.")
    return remedies.by_hand(_("Stop and start the instance, and tell the provider"), note=note)
