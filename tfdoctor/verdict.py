"""Will TensorFlow use the GPUs? "yes" only over positive evidence; "unknown" wherever a decisive look failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Optional

from tfdoctor.contradictions import contradictions
from tfdoctor.engine import Facts
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, NotApplicable, Outcome, Severity, Status, Unavailable, Verdict
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.libraries import DriverLibrary, Libraries
from tfdoctor.probes.nvml import Driver, Gpus
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.probes.tensorflow import TensorFlow

# What must have been seen before anybody may say "yes".
DECISIVE = (GpuMachine, Driver, Gpus, TensorFlow, Libraries, DriverLibrary)


def decide(outcomes: Sequence[Outcome], facts: Facts) -> Verdict:
    """The verdict over all outcomes, folded or not."""
    blocking = [o for o in outcomes if o.rule.blocks]
    found = [o for o in blocking if o.status is Status.FOUND]
    certain = [o for o in found if _for_certain(o, facts)]
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
    reasons += _not_seen(facts)
    if reasons:
        return Verdict("unknown", None, _("Cannot tell: {reasons}.").format(reasons=_and_more(reasons)), "unknown")
    return Verdict("yes", None, _usable(facts), "yes")


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


def _for_certain(outcome: Outcome, facts: Facts) -> bool:
    """Does what a blocking rule found leave no GPU to use? A diagnosis of some GPUs leaves the others."""
    sure = [d for d in outcome.diagnoses if not _unsure(outcome, d) and d.blocks is not False]
    if any(not d.gpus for d in sure):
        return True
    hit = {index for d in sure for index in d.gpus}
    try:
        usable = {gpu.index for gpu in facts.get(Gpus) if not gpu.lost}
    except (Unavailable, NotApplicable):
        return False
    return bool(hit) and usable <= hit


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


def _usable(facts: Facts) -> str:
    names = Counter(gpu.name for gpu in facts.get(Gpus) if not gpu.lost)
    listed = ", ".join(f"{count} x {name}" if count > 1 else name for name, count in names.items())
    return _("TensorFlow {version} will use {gpus}.").format(version=facts.get(TensorFlow).version, gpus=listed)


def because(verdict: Verdict, outcomes: Sequence[Outcome]) -> Optional[Outcome]:
    """The outcome that the verdict names."""
    return next((o for o in outcomes if o.rule.name == verdict.because), None)
