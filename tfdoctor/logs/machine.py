"""Between a situation and the facts that rules read: what is stated becomes facts, and a machine's facts become a situation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional, TypeVar

from tfdoctor.engine import Facts
from tfdoctor.i18n import _
from tfdoctor.logs.situation import Situation
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.nvml import Driver, Gpu, Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.tables import Tables

T = TypeVar("T")
_SYSTEMS = {"linux": "linux", "wsl1": "linux", "wsl2": "linux", "windows": "windows", "macos": "darwin"}
SOURCE = _("what was said of the machine")


def facts_stated(situation: Situation, tables: Tables) -> Iterator[Any]:
    """The facts that a situation states well enough for rules to rest on."""
    system = _SYSTEMS.get(situation.get("os", ""))
    if system is not None:
        machine = situation.get("machine", "x86_64" if system == "windows" else "")
        wsl = {"wsl1": 1, "wsl2": 2}.get(situation["os"], 0)
        yield Platform(system, machine, "", "", (), "", situation.get("libc", ""), "", wsl, SOURCE)
    if "driver" in situation:
        yield Driver(situation["driver"], situation.get("driver_cuda", ""), "", SOURCE)
    if "container" in situation:
        kind = "" if situation["container"] == "no" else situation["container"]
        yield Container(kind, "", "", SOURCE)
    if situation.get("has_gpu") == "yes" and situation.get("vendor", "nvidia") == "nvidia":
        count = int(situation["gpus"]) if situation.get("gpus", "").isdecimal() else None
        yield GpuMachine(situation.get("gpu") or _("a GPU is spoken of"), count, SOURCE)
    if "gpu" in situation and "compute_capability" in situation:
        yield Gpus((Gpu(0, situation["gpu"], "", compute_capability=situation["compute_capability"]),), SOURCE)
    if system in ("linux", "windows") and "distribution" not in situation:
        yield from _release(situation["tensorflow"], system, tables) if "tensorflow" in situation else ()


def _release(version: str, system: str, tables: Tables) -> Iterator[TensorFlow]:
    """The official package of a release on Linux or Windows as the tables know it."""
    release = tables.release(version)
    if release is None:
        return
    support = tables.system_support(system, "x86_64", version)
    cuda_build = release.has_gpu_build and not (system == "windows" and support is not None and support.gpu == "no")
    yield TensorFlow(
        "tensorflow", version, "", cuda_build, None, release.cuda or "", release.cudnn or "", release.nccl or "",
        release.compute_capabilities if system == "linux" else (), release.ptx_isa or "", True, release.source,
    )  # fmt: skip


def situation_of(facts: Facts) -> dict[str, str]:
    """What a machine's facts say, under the names of a situation; what could not be looked at is not in it."""
    seen: dict[str, str] = {}
    platform = _get(facts, Platform)
    if platform is not None:
        plain = {"darwin": "macos"}.get(platform.system, platform.system)
        seen["os"] = f"wsl{platform.wsl}" if platform.wsl else plain
        seen["system"] = f"{platform.distro} {platform.distro_version} {platform.kernel}".strip()
        seen["machine"] = platform.machine
        seen["libc"] = platform.libc
    for name, value in (*_python(facts), *_graphics(facts)):
        if value:
            seen[name] = value
    container = _get(facts, Container)
    if container is not None:
        seen["container"] = container.kind or "no"
    return seen


def _python(facts: Facts) -> Iterator[tuple[str, Optional[str]]]:
    interpreter, tensorflow = _get(facts, Interpreter), _get(facts, TensorFlow)
    if interpreter is not None:
        yield "python", interpreter.version
        yield "bits", str(interpreter.bits or "")
    if tensorflow is not None:
        yield "tensorflow", tensorflow.version
        yield "distribution", "" if tensorflow.distribution == "tensorflow" else tensorflow.distribution


def _graphics(facts: Facts) -> Iterator[tuple[str, Optional[str]]]:
    driver, gpus = _get(facts, Driver), _get(facts, Gpus)
    if driver is not None:
        yield "driver", driver.version
        yield "driver_cuda", driver.cuda
    if gpus is not None and len(gpus):
        yield "gpu", gpus.gpus[0].name
        yield "compute_capability", gpus.gpus[0].compute_capability
        yield "gpus", str(len(gpus))
    try:
        facts.get(GpuMachine)
        yield "has_gpu", "yes"
    except NotApplicable:
        yield "has_gpu", "no"
    except Unavailable:
        return


def _get(facts: Facts, kind: type[T]) -> Optional[T]:
    try:
        return facts.get(kind)
    except (Unavailable, NotApplicable):
        return None


def disagreement(stated: Situation, seen: Situation) -> Optional[str]:
    """Why a log cannot be from this machine, as a phrase for people; None where it can."""
    for name in ("os", "tensorflow", "driver", "gpu", "python"):
        if name in stated and name in seen and not _same(name, stated[name], seen[name]):
            return _("{name} is {stated} in the log and {seen} here").format(
                name=name, stated=stated[name], seen=seen[name]
            )
    if stated.get("family") == "linux" and seen.get("os") in ("windows", "macos"):
        return _("the log is from Linux")
    if stated.get("has_gpu") == "yes" and seen.get("has_gpu") == "no":
        return _("the log shows a GPU and this machine has none")
    return None


def _same(name: str, stated: str, seen: str) -> bool:
    if name == "os":
        return stated == seen or {stated, seen} <= {"linux", "wsl1", "wsl2"}
    if name in ("python", "driver", "tensorflow"):
        short, long = sorted((stated.split("."), seen.split(".")), key=len)
        return long[: min(2, len(short))] == short[:2]
    return stated.lower() in seen.lower() or seen.lower() in stated.lower()
