"""TFD403 python-older-than-target-supports."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, Severity
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.platform import Platform
from tfdoctor.rules._log import line, value
from tfdoctor.rules.python._wheels import newest_for, tag
from tfdoctor.tables import Tables


@rule("TFD403", Severity.ERROR)
def python_older_than_target_supports(
    log: LogMatch, tables: Tables, interpreter: Optional[Interpreter], platform: Optional[Platform]
) -> Found:
    """The TensorFlow that was asked for needs a newer Python than this one.

    ## What it is
    A release states in its metadata which Python it needs (`Requires-Python`): 3.9 for 2.14 to 2.20, 3.10 from 2.21 on. pip
    leaves out what does not fit, and when a version was named exactly, nothing is left. An old distribution's `python3` is
    the usual reason.

    ## How it shows
    - `ERROR: Package 'tensorflow' requires a different Python: 3.8.10 not in '>=3.9'`
    - `Ignored the following versions that require a different python version: 2.16.1 Requires-Python >=3.9; …`

    ## How to be sure
    The two versions in the line. `python -m pip --version` shows which Python this pip belongs to.

    ## What to do
    - All systems: an environment with a newer Python (`uv venv --python 3.12`, `conda create -n tf python=3.12`), or the newest
      TensorFlow that this Python has, which the fix names.
    - Keep the system's Python as it is: the operating system uses it.
    - Docker, Kubernetes: a newer base image. Slurm: another Python module.
    - Windows: `py -0p` lists the Pythons that are there. WSL2, macOS: as above.

    ## References
    - https://www.tensorflow.org/install/source#gpu
    - https://packaging.python.org/en/latest/guides/dropping-older-python-versions/
    """
    version = value(log, "python", interpreter.version if interpreter else "?")
    need = value(log, "requires", "")
    best = newest_for(tag(version), tables, platform)
    fixes = [remedies.by_hand(_("Make an environment with a newer Python"))]
    if best is not None:
        fixes.append(
            remedies.install(
                interpreter,
                f"tensorflow=={best.version}",
                title=_("Or the newest TensorFlow for Python {version}").format(version=version),
            )
        )
    return Diagnosis(
        _("Python {version} is too old for the TensorFlow that was asked for{need}.").format(
            version=version, need=f" ({need})" if need else ""
        ),
        evidence=(
            line(log),
            *(
                (Evidence(_("TensorFlow {release} has a wheel for it").format(release=best.version), best.source),)
                if best
                else ()
            ),
        ),
        fixes=tuple(fixes),
    )
