"""TFD524 smoke-test-failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.smoke.differential import culprits
from tfdoctor.smoke.places import card_name
from tfdoctor.smoke.results import SmokeResult

ENDED_BADLY = {
    "failed": _("ended with an error"),
    "out-of-memory": _("ran out of memory"),
    "crashed": _("crashed"),
    "hung": _("hung"),
}


@rule("TFD524", Severity.ERROR, caused_by=("TFD502",))
def smoke_test_failed(smoke: SmokeResults, gpus: Optional[Gpus]) -> Iterator[Diagnosis]:
    """A smoke test raised, crashed, hung or ran out of memory.

    ## What it is
    Each smoke test runs real TensorFlow in a process of its own. This one did not come to its end. The step that it
    had reached, and the last lines that TensorFlow printed, tell where.

    ## How it shows
    The line of the test in `tfdoctor smoke` says failed, crashed, hung or out-of-memory, with the signal or the error.

    ## How to be sure
    Run it alone: `tfdoctor smoke --test NAME --verbose`. It prints what TensorFlow printed.

    ## What to do
    - A diagnosis with a lower code in the same report is usually the cause: deal with that first.
    - SIGILL: the processor lacks an instruction set that the build needs.
    - SIGSEGV or SIGABRT on import: mixed or damaged packages; `tfdoctor check` names them.
    - A hang in AllReduce: see the experiments below the result.
    - Out of memory: another process holds the card, see `nvidia-smi`.

    ## References
    - https://www.tensorflow.org/install/errors
    """
    for result in smoke.results:
        if result.state in ENDED_BADLY:
            message = _("The smoke test {test} {how}: {detail}.").format(
                test=result.test, how=ENDED_BADLY[result.state], detail=result.detail.rstrip(".")
            )
            yield Diagnosis(
                " ".join((message, *_fault(smoke, result.test, gpus))),
                tuple(Evidence(text, smoke.source) for text in _shown(smoke, result)),
            )


def _fault(smoke: SmokeResults, test: str, gpus: Optional[Gpus]) -> Iterator[str]:
    """What the experiments say: the change with which it works, the card or the pair with which it does not."""
    mine = [e for e in smoke.experiments if e.test == test]
    helped = next((e for e in mine if e.helped and not e.devices), None)
    if helped is not None:
        yield _("It works with {what}.").format(what=helped.what)
    found = culprits(mine)
    for card in found.cards:
        yield _("No pair works with {gpu}; the pairs without it do.").format(gpu=card_name(smoke, card, gpus))
    for one, other in found.pairs:
        names = [card_name(smoke, number, gpus) for number in (one, other)]
        yield _("The pair {one} and {other} does not work; others do.").format(one=names[0], other=names[1])


def _shown(smoke: SmokeResults, result: SmokeResult) -> Iterator[str]:
    yield _("its last step was: {stage}").format(stage=result.stage or _("none"))
    for known in smoke.known:
        if known.test == result.test:
            yield _("it printed a known error of {name} ({code}): {text}").format(
                name=known.name, code=known.code, text=known.text
            )
    for experiment in smoke.experiments:
        if experiment.test == result.test:
            ended = (
                _("works") if experiment.helped else _("does not work ({state})").format(state=experiment.result.state)
            )
            yield _("again with {what}: {ended}").format(what=experiment.what, ended=ended)
