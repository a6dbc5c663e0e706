"""Will TensorFlow use the GPUs? "yes" only over positive evidence; "unknown" wherever a decisive look failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Optional, TypeVar

from tfdoctor.contradictions import contradictions
from tfdoctor.engine import Facts
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, NotApplicable, Outcome, Severity, Status, Unavailable, Verdict
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.libraries import DriverLibrary, Libraries
from tfdoctor.probes.nvml import Driver, Gpus
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules._hints import starts
from tfdoctor.rules._selection import Selection, selection

T = TypeVar("T")
_UNNAMED = _("a GPU that does not tell its name")

# What must have been seen before anybody may say "yes".
DECISIVE = (GpuMachine, Driver, Gpus, TensorFlow, Libraries, DriverLibrary)


def decide(outcomes: Sequence[Outcome], facts: Facts) -> Verdict:
    """The verdict over all outcomes, folded or not."""
    blocking = [o for o in outcomes if o.rule.blocks]
    found = [o for o in blocking if o.status is Status.FOUND]
    hit = {index for o in found for d in _sure(o) for index in d.gpus}
    whole = [o for o in found if any(not d.gpus for d in _sure(o))]
    selected = _selected(facts)
    none_left = selected is not None and selected.never(lambda gpu: gpu.index not in hit)
    certain = whole or ([o for o in found if _sure(o)] if hit and none_left else [])
    if certain:
        root = _root_of(certain, outcomes)
        return Verdict(
            "no",
            root.rule.name,
            _("TensorFlow will not use a GPU: {why}").format(why=root.diagnoses[0].message),
            predicted="no",
        )
    reasons = [o.reason for o in blocking if o.status in (Status.SKIPPED, Status.CRASHED)]
    reasons += [d.message.rstrip(".") for o in found for d in o.diagnoses if _unsure(o, d) and not _mere(d)]
    if selected is not None and hit and not selected.surely(lambda gpu: gpu.index not in hit):
        reasons.append(_("which GPUs {variable} names is not known").format(variable="CUDA_VISIBLE_DEVICES"))
    reasons += _not_seen(facts)
    if reasons:
        return Verdict("unknown", None, _("Cannot tell: {reasons}.").format(reasons=_and_more(reasons)), "unknown")
    return Verdict("yes", None, " ".join([_usable(facts, hit), *_errors(outcomes)]), "yes")


def prove(predicted: Verdict, smoke: SmokeResults) -> Verdict:
    """The verdict after TensorFlow was run: what it listed counts, and the prediction stays beside it."""
    listed = smoke.get("devices")
    if listed is None or listed.state == "not-run":
        return predicted
    count = int(listed.measured.get("gpus", 0)) if listed.measured else 0
    if count and listed.passed:
        text = _("TensorFlow {version} ran on {count} GPUs.").format(version=listed.tensorflow, count=count)
        return replace(predicted, gpu="yes", because=None, summary=text, proven="yes")
    if listed.state in ("failed", "crashed", "hung", "out-of-memory"):
        text = _("TensorFlow did not run: {detail}.").format(detail=listed.detail.rstrip("."))
        return replace(predicted, gpu="no", because=predicted.because or "smoke-test-failed", summary=text, proven="no")
    if count:
        return replace(predicted, gpu="no", because="gpu-computes-wrong-results", summary=listed.detail, proven="no")
    why = predicted.summary if predicted.gpu == "no" else _("TensorFlow ran and lists no GPU.")
    helped = next((e for e in smoke.experiments if e.helped and e.test == "devices"), None)
    if helped is not None:
        why = _("{why} With {what} it lists them.").format(why=why, what=helped.what)
    return replace(predicted, gpu="no", because=predicted.because, summary=why, proven="no")


def _unsure(outcome: Outcome, diagnosis: Diagnosis) -> bool:
    """The rule itself took its finding back to a milder form: it may be so, it need not."""
    return diagnosis.severity is not None and diagnosis.severity < outcome.rule.severity


def _mere(diagnosis: Diagnosis) -> bool:
    """Leaves the verdict alone: some GPUs hidden on purpose, an old card that only drives a screen."""
    return diagnosis.severity is Severity.INFO or diagnosis.blocks is False


def _sure(outcome: Outcome) -> list[Diagnosis]:
    """What leaves no GPU to use, or (with `gpus`) not these."""
    return [d for d in outcome.diagnoses if not _unsure(outcome, d) and d.blocks is not False]


def _selected(facts: Facts) -> Optional[Selection]:
    """The GPUs that a program gets; None where the driver did not tell its GPUs."""
    gpus = _told(facts, Gpus)
    return selection(gpus, _told(facts, Environment), _told(facts, CudaDriver)) if gpus is not None else None


def _told(facts: Facts, kind: type[T]) -> Optional[T]:
    try:
        return facts.get(kind)
    except (Unavailable, NotApplicable):
        return None


def _root_of(found: Sequence[Outcome], outcomes: Sequence[Outcome]) -> Outcome:
    """The root cause to name: the one under which the first blocking outcome is folded, else the lowest code."""
    first = min(found, key=lambda o: o.folded_under or o.rule.code)
    return next((o for o in outcomes if o.rule.code == first.folded_under), first)


def _not_seen(facts: Facts) -> list[str]:
    reasons = []
    for kind in DECISIVE:
        try:
            facts.get(kind)
        except (Unavailable, NotApplicable) as why:
            reasons.append(str(why))
    return reasons or contradictions(facts)


def _and_more(reasons: Sequence[str], shown: int = 3) -> str:
    unique = list(dict.fromkeys(reasons))
    rest = len(unique) - shown
    text = "; ".join(unique[:shown])
    return text if rest <= 0 else _("{text}; and {rest} more").format(text=text, rest=rest)


def _usable(facts: Facts, hit: Collection[int]) -> str:
    """The GPUs that are left, by CUDA where it started and the driver does not tell which it counts."""
    selected, cuda = _selected(facts), _told(facts, CudaDriver)
    gpus = selected.gpus if selected is not None else ()
    models = [gpu.name or _UNNAMED for gpu in gpus if gpu.index not in hit]
    text = _("TensorFlow {version} will use {gpus}.")
    if (
        cuda is not None
        and starts(cuda)
        and (selected is None or not selected.certain or len(cuda.devices) != len(gpus))
    ):
        models = [device.name or _UNNAMED for device in cuda.devices]
    elif selected is not None and not selected.certain:
        text = _("TensorFlow {version} will use {count} of {gpus}.")
    names = Counter(models)
    listed = ", ".join(f"{count} x {name}" if count > 1 else name for name, count in names.items())
    count = selected.count if selected is not None else len(models)
    return text.format(version=facts.get(TensorFlow).version, gpus=listed, count=count)


def _errors(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What breaks work on GPUs that TensorFlow does use, so that nobody stops reading at the "yes"."""
    causes = [o for o in outcomes if o.status is Status.FOUND and o.folded_under is None]
    names = [o.rule.name for o in causes if o.severity is Severity.ERROR]
    if names:
        yield _("Errors remain: {names}.").format(names=", ".join(names))


def because(verdict: Verdict, outcomes: Sequence[Outcome]) -> Optional[Outcome]:
    """The outcome that the verdict names."""
    return next((o for o in outcomes if o.rule.name == verdict.because), None)
