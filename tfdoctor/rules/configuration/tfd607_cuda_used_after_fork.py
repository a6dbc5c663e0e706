"""TFD607 cuda-used-after-fork."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line


@rule("TFD607", Severity.ERROR)
def cuda_used_after_fork(log: LogMatch) -> Found:
    """A forked child process uses CUDA that its parent had already initialised.

    ## What it is
    CUDA's state does not survive `fork`. When the parent has touched the GPU (listing devices is enough) and then forks, the
    child inherits handles that do not work there. `multiprocessing` forks by default on Linux up to Python 3.13; so do
    gunicorn with preloading, Celery and several data loaders.

    ## How it shows
    - `Failed setting context: CUDA_ERROR_NOT_INITIALIZED: initialization error` from a child process
    - `CUDA failed with error initialization error`, `could not retrieve CUDA device count`; or the child hangs

    ## How to be sure
    The same code in a fresh process works. `multiprocessing.get_start_method()` says `fork`.

    ## What to do
    - Linux, WSL2: `multiprocessing.set_start_method('spawn')` at the start of the main program, below `if __name__ == '__main__':`.
    - Or start the children before TensorFlow is imported in the parent, and let only the children use it.
    - gunicorn: no `--preload`. Celery: `--pool=solo`, or import TensorFlow inside the task.
    - Docker, Kubernetes, Slurm: the same. Windows and macOS start children afresh by default: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/57877
    - https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods
    """
    return Diagnosis(
        _("A child process was forked after its parent had used CUDA; CUDA cannot work in it."),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Use the start method spawn, or fork before TensorFlow is first used")),),
    )
