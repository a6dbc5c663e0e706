"""Does a requirement hold? One function per subject; each returns what is there, or says why nobody could look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Optional, TypeVar

from tfdoctor.engine import Facts
from tfdoctor.i18n import _
from tfdoctor.instances import differences
from tfdoctor.model import NotApplicable, Report, Unavailable
from tfdoctor.preflight.requirement import Requirement
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.nvml import Driver, Gpu, Gpus
from tfdoctor.probes.platform import Shm
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.probes.surroundings import Cloud, Container, Job
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.smoke import expectation
from tfdoctor.smoke.results import bus_bandwidth
from tfdoctor.tables import Tables

T = TypeVar("T")
GIB = 2**30


@dataclass(frozen=True)
class Judgement:
    """`state` is "met", "not-met" or "unknown" (could not be looked at: counts as not met). `have` is the value seen,
    as text; `why` a sentence with both values."""

    requirement: Requirement
    state: str
    have: str
    why: str

    @property
    def met(self) -> bool:
        """Only what was seen to hold is met."""
        return self.state == "met"


def judge(wanted: Requirement, report: Report, facts: Facts) -> Judgement:
    """Compare one requirement with the machine."""
    try:
        if wanted.subject == "instance":
            return _instance(wanted, facts)
        value = value_of(wanted.subject, report, facts)
    except Unavailable as why:
        return _unknown(wanted, str(why))
    except NotApplicable as why:
        return Judgement(wanted, "not-met", _("none"), _("{text} is not met: {why}.").format(text=wanted.text, why=why))
    if value is None:
        return _unknown(wanted, _("{subject} is not told").format(subject=wanted.subject))
    holds = bool(value) if wanted.kind == "flag" else wanted.holds(value)
    return _seen(wanted, holds, _shown(value, wanted.kind))


def value_of(subject: str, report: Report, facts: Facts) -> Any:
    """What is here, in the kind that SUBJECTS gives it; None: not told. Raises Unavailable or NotApplicable."""
    return _SEEN[subject](report, facts)


def judge_all(wanted: Iterable[Requirement], report: Report, facts: Facts) -> tuple[Judgement, ...]:
    """Every requirement, in order."""
    return tuple(judge(each, report, facts) for each in wanted)


def _seen(wanted: Requirement, holds: bool, have: str) -> Judgement:
    if wanted.kind == "flag":
        text = _("{text} holds.") if holds else _("{text} does not hold.")
    else:
        text = _("{text} is met: {have}.") if holds else _("{text} is not met: {have} is here.")
    return Judgement(wanted, "met" if holds else "not-met", have, text.format(text=wanted.text, have=have))


def _unknown(wanted: Requirement, why: str) -> Judgement:
    text = _("{text} could not be looked at ({why}), which counts as not met.")
    return Judgement(wanted, "unknown", "?", text.format(text=wanted.text, why=why))


def _shown(value: Any, kind: str) -> str:
    if kind == "flag":
        return _("yes") if value else _("no")
    if kind == "bytes":
        return f"{value / GIB:.1f} GiB"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _instance(wanted: Requirement, facts: Facts) -> Judgement:
    """The type that the machine tells, and the GPUs that the table has for it. Where it tells none (Google) the GPUs
    alone must be those of the type that is asked for."""
    told = _cloud(facts).instance_type
    if told and not wanted.holds(told):
        return _seen(wanted, False, told)
    named = next((value.strip() for op, value in wanted.terms if op != "!="), "")
    tables = facts.get(Tables)
    row = tables.instance(told or named) if named else None
    if row is None:
        why = _("the machine does not tell its type, and the table does not have it")
        return _seen(wanted, True, told) if told else _unknown(wanted, why)
    gpus = _all_gpus(facts)
    faults = differences(told or named, row, gpus, tables, _told(facts, Container), _told(facts, Job))
    have = ", ".join(f"{n} × {name}" for name, n in Counter(gpu.name for gpu in gpus).items()) or _("no GPU")
    for fault, _gpus in faults:
        return Judgement(wanted, "not-met", have, _("{text} is not met: {why}").format(text=wanted.text, why=fault))
    return _seen(wanted, True, told or have)


def _cloud(facts: Facts) -> Cloud:
    cloud = facts.get(Cloud)
    if not cloud.provider:
        raise NotApplicable(_("the firmware names no cloud"))
    return cloud


def _all_gpus(facts: Facts) -> Gpus:
    """Those that the driver lists; none on a machine without."""
    try:
        facts.get(GpuMachine)
    except NotApplicable:
        return Gpus((), "")
    return facts.get(Gpus)


def _told(facts: Facts, kind: type[T]) -> Optional[T]:
    try:
        return facts.get(kind)
    except (NotApplicable, Unavailable):
        return None


def _gpu(report: Report, facts: Facts) -> bool:
    if report.verdict.gpu == "unknown":
        raise Unavailable(report.verdict.summary.rstrip("."))
    return report.verdict.gpu == "yes"


def _cards(facts: Facts) -> tuple[Gpu, ...]:
    facts.get(GpuMachine)  # where there is no NVIDIA GPU this says so, better than a driver that is not there
    cards = tuple(gpu for gpu in facts.get(Gpus) if not gpu.lost)
    if not cards:
        raise NotApplicable(_("the driver lists no GPU"))
    return cards


def _lowest(values: Iterable[Optional[T]], key: Callable[[T], Any] = lambda v: v) -> Optional[T]:
    """The least of the GPUs' values; None when one of them is not told."""
    known = list(values)
    if any(v is None for v in known):
        return None
    return min((v for v in known if v is not None), key=key)


def _count(report: Report, facts: Facts) -> int:
    try:
        return len(_cards(facts))
    except NotApplicable:
        return 0


def _model(report: Report, facts: Facts) -> str:
    return ", ".join(sorted({gpu.name for gpu in _cards(facts)}))


def _compute_capability(report: Report, facts: Facts) -> Optional[str]:
    return _lowest((gpu.compute_capability for gpu in _cards(facts)), key=lambda text: tuple(map(int, text.split("."))))


def _library(component: str) -> Callable[[Report, Facts], Optional[str]]:
    def version(report: Report, facts: Facts) -> Optional[str]:
        library = facts.get(Libraries).get(component)
        if library is None or library.picked is None:
            raise NotApplicable(_("TensorFlow would find no {component}").format(component=component))
        return library.picked.version or None

    return version


def _nccl(report: Report, facts: Facts) -> Optional[str]:
    """NCCL is linked into TensorFlow up to 2.20 and a library of its own from 2.21 on."""
    library = facts.get(Libraries).get("nccl")
    if library is not None and library.picked is not None:
        return library.picked.version or None
    return facts.get(TensorFlow).nccl or None


def _nvlink(report: Report, facts: Facts) -> Optional[str]:
    """ "full" when every GPU has all links of its model up, "none" when no GPU has any, else how many are up."""
    cards = _cards(facts)
    if any(gpu.nvlinks is None for gpu in cards):
        return None
    ups = [gpu.active_nvlinks for gpu in cards]
    if not any(gpu.nvlinks for gpu in cards):
        return "none"
    most = max(len(gpu.nvlinks or ()) for gpu in cards)
    return "full" if all(up == most for up in ups) else _("{least} of {most}").format(least=min(ups), most=most)


def _free_memory(report: Report, facts: Facts) -> Optional[int]:
    return _lowest(
        None if g.memory_total is None or g.memory_used is None else g.memory_total - g.memory_used
        for g in _cards(facts)
    )


def _ecc(report: Report, facts: Facts) -> Optional[str]:
    """ "on, clean", "on, N uncorrected errors", "off"; remapping that waits or failed is not clean either."""
    said = []
    for gpu in _cards(facts):
        if gpu.ecc.enabled is None:
            return None
        errors = (gpu.ecc.volatile_uncorrected or 0) + (gpu.ecc.aggregate_uncorrected or 0)
        waiting = gpu.rows.pending or gpu.rows.failed
        if not gpu.ecc.enabled:
            said.append("off")
        elif errors or waiting:
            said.append(_("on, {n} uncorrected errors").format(n=errors))
        else:
            said.append("on, clean")
    worst = [s for s in said if s != "on, clean"]
    return worst[0] if worst else "on, clean"


def _no_processes(report: Report, facts: Facts) -> Optional[bool]:
    cards = _cards(facts)
    if any(gpu.processes is None for gpu in cards):
        return None
    return not any(p.kind == "compute" for gpu in cards for p in gpu.processes or ())


def _smoke(facts: Facts) -> SmokeResults:
    """Raises Unavailable where the tests were not run: then nobody looked."""
    try:
        return facts.get(SmokeResults)
    except NotApplicable as why:
        raise Unavailable(str(why)) from why


def _matmul(report: Report, facts: Facts) -> Optional[float]:
    """The lowest share of the dense peak over formats and GPUs."""
    return min(expectation.shares(_smoke(facts), facts.get(Tables)).values(), default=None)


def _allreduce(report: Report, facts: Facts) -> Optional[float]:
    """The best busbw in GB/s."""
    result = _smoke(facts).get("allreduce")
    if result is None or not result.measured or result.rehearsal:
        raise Unavailable(_("AllReduce did not run on GPUs"))
    ranks = int(result.measured["replicas"])
    return max(bus_bandwidth(m["bytes"], m["seconds"], ranks) for m in result.measured["allreduce"])


_SEEN: Mapping[str, Callable[[Report, Facts], Any]] = {
    "gpu": _gpu,
    "gpus": _count,
    "gpu-model": _model,
    "compute-capability": _compute_capability,
    "driver": lambda report, facts: facts.get(Driver).version or None,
    "cuda-driver": lambda report, facts: facts.get(Driver).cuda or None,
    "tensorflow": lambda report, facts: facts.get(TensorFlow).version or None,
    "python": lambda report, facts: facts.get(Interpreter).version or None,
    "cuda": _library("cudart"),
    "cudnn": _library("cudnn"),
    "nccl": _nccl,
    "pcie-width": lambda report, facts: _lowest(gpu.pcie.width for gpu in _cards(facts)),
    "pcie-generation": lambda report, facts: _lowest(gpu.pcie.max_generation for gpu in _cards(facts)),
    "nvlink": _nvlink,
    "free-memory": _free_memory,
    "shm": lambda report, facts: facts.get(Shm).total,
    "ecc": _ecc,
    "no-processes": _no_processes,
    "instance": lambda report, facts: _cloud(facts).instance_type or None,
    "smoke.matmul": _matmul,
    "smoke.allreduce": _allreduce,
}
