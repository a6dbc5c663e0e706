"""TFD524 smoke-test-failed."""

from __future__ import annotations

from collections.abc import Iterator

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Severity
from tfdoctor.probes.smoke import SmokeResults

ENDED_BADLY = {
    "failed": _("ended with an error"),
    "out-of-memory": _("ran out of memory"),
    "crashed": _("crashed"),
    "hung": _("hung"),
}


@rule("TFD524", Severity.ERROR)
def smoke_test_failed(smoke: SmokeResults) -> Iterator[Diagnosis]:
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
            message = _("The smoke test {test} {how}: {detail}.")
            yield Diagnosis(
                message.format(test=result.test, how=ENDED_BADLY[result.state], detail=result.detail.rstrip(".")),
                (Evidence(_("its last step was: {stage}").format(stage=result.stage or _("none")), smoke.source),),
            )
