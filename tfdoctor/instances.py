"""Is a cloud instance what its type says? Its GPUs against the table of instance types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor.i18n import _
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.surroundings import Container, Job
from tfdoctor.tables import Tables
from tfdoctor.tables.hardware_rows import Instance


def differences(
    kind: str, row: Instance, gpus: Gpus, tables: Tables, container: Optional[Container], job: Optional[Job]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """(a sentence with both values, the GPUs it is about). `kind` is the instance type's name, `row` what the table has
    of it. A container or a job may have been given only some of the GPUs, so there none is missed."""
    given_some = gpus.selected or bool(container and container.kind) or bool(job and job.scheduler)
    if not given_some and _too_few(len(gpus), row):
        text = _("{type} should show {wanted} {gpu}, {have} are here.")
        yield text.format(type=kind, wanted=counts(row), gpu=row.gpu, have=len(gpus)), ()
    others = [gpu for gpu in gpus if gpu.name and _is_other(gpu.name, row, tables)]
    if others:
        text = _("{type} should show {wanted}, and {gpu} is here.")
        indexes = tuple(gpu.index for gpu in others)
        yield text.format(type=kind, wanted=row.gpu, gpu=others[0].label), indexes


def counts(row: Instance) -> str:
    """ "8", or "1, 2 or 4" for a family that comes in several sizes."""
    *some, last = map(str, row.gpu_counts)
    return _("{some} or {last}").format(some=", ".join(some), last=last) if some else last


def _too_few(have: int, row: Instance) -> bool:
    """A family that comes in several sizes is only judged by counts that none of them has."""
    return bool(row.gpu_counts) and have not in row.gpu_counts and have < max(row.gpu_counts)


def _is_other(name: str, row: Instance, tables: Tables) -> bool:
    """Another compute capability, or the same with another memory. What the tables do not know is no finding."""
    here, there = tables.gpu(name), tables.gpu(row.gpu)
    if here is None or there is None:
        return False
    if here.compute_capability != there.compute_capability:
        return True
    return bool(here.memory_gb and there.memory_gb) and not set(here.memory_gb) & set(there.memory_gb)
