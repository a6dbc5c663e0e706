"""What this machine says to the questions of `compat --here`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Optional, TypeVar

from tfdoctor.engine import Facts
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.nvml import Driver, Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.tables import Tables

T = TypeVar("T")


@dataclass(frozen=True)
class Here:
    """``said``: answers by the names that `understand` takes. ``unseen``: what could not be looked at, and why."""

    said: Mapping[str, str]
    unseen: tuple[str, ...]


def look(facts: Facts, tables: Tables) -> Here:
    """The answers of a machine. With several kinds of GPU it is the one with the lowest compute capability."""
    unseen: list[str] = []
    platform = _fact(facts, Platform, _("operating system"), unseen)
    target = _fact(facts, Interpreter, _("Python"), unseen)
    driver = _fact(facts, Driver, _("driver"), unseen)
    gpus = _fact(facts, Gpus, _("GPUs"), unseen)
    said = dict(_of_platform(platform)) if platform else {}
    if target is not None and target.version:
        said["python"] = ".".join(target.version.split(".")[:2])
    if driver is not None and driver.version:
        said["driver"] = driver.version
    lowest = None if gpus is None else _lowest(gpus, tables)
    if lowest is not None:
        said["gpu"] = lowest
    return Here(said, tuple(unseen))


def _fact(facts: Facts, kind: type[T], name: str, unseen: list[str]) -> Optional[T]:
    """A fact; None when it does not arise here or could not be looked at, which is then noted."""
    try:
        return facts.get(kind)
    except NotApplicable:
        return None
    except Unavailable as why:
        unseen.append(_("{what}: could not look, {why}").format(what=name, why=why))
        return None


def _of_platform(platform: Platform) -> Iterator[tuple[str, str]]:
    system = {"darwin": "macos"}.get(platform.system, platform.system)
    yield "system", "wsl2" if platform.wsl == 2 else system
    yield "machine", platform.machine
    if platform.libc == "glibc" and platform.libc_version:
        yield "glibc", platform.libc_version


def _lowest(gpus: Gpus, tables: Tables) -> Optional[str]:
    """The name of the GPU with the lowest compute capability where the tables know it, else the capability."""
    told = [gpu for gpu in gpus.gpus if gpu.compute_capability is not None and not gpu.lost]
    if not told:
        return None
    gpu = min(told, key=lambda g: tuple(map(int, str(g.compute_capability).split("."))))
    row = tables.gpu(gpu.name)
    known = row is not None and row.compute_capability == gpu.compute_capability
    return gpu.name if known else gpu.compute_capability
