"""TFD812 multiple-strategies-share-collective-key."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules import _log


@rule("TFD812", Severity.ERROR)
def multiple_strategies_share_collective_key(log: LogMatch) -> Found:
    """A second distribution strategy in the same process meets the collective group of the first.

    ## What it is
    `tf.distribute` numbers its collective groups per process. A second strategy with another number of devices gets the number of the first
    and is refused. Notebooks and test suites that build a strategy twice meet it.

    ## How it shows
    - `Device … is joining a group with size 2, but that group has size 4 (group_key=1)`

    ## How to be sure
    The program creates more than one `MirroredStrategy` or `MultiWorkerMirroredStrategy`, or a notebook cell was run twice.

    ## What to do
    - Everywhere: one strategy per process; make it once and pass it on. Notebook: restart the kernel.
    - Tests: a process per test.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/61314
    - https://www.tensorflow.org/guide/distributed_training
    """
    message = _(
        "A second strategy with {joins} devices met the group of the first with {has}: one process, one strategy."
    ).format(joins=_log.value(log, "joins", "?"), has=_log.value(log, "has", "?"))
    fix = remedies.by_hand(_("Create one strategy per process; restart the notebook's kernel"))
    return Diagnosis(message, (_log.line(log),), (fix,))
