"""TFD405 pip-too-old."""

from __future__ import annotations

from typing import Optional

from packaging.version import InvalidVersion, Version

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, NotApplicable, Severity
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlowPackages

#: The first pip that accepts each kind of wheel: manylinux2010 (TensorFlow 2.1 to 2.8), manylinux2014 (2.9 to 2.20) and
#: manylinux_2_27 (2.21). https://github.com/pypa/manylinux#readme
_FIRST = (("19.0", "manylinux2010"), ("19.3", "manylinux2014"), ("20.3", "manylinux_2_27"))


@rule("TFD405", Severity.WARNING)
def pip_too_old(interpreter: Interpreter, packages: TensorFlowPackages, platform: Platform) -> Found:
    """This pip is too old to see the wheels of current TensorFlow releases.

    ## What it is
    Wheels for Linux carry a name such as `manylinux2014` or `manylinux_2_27`, and a pip from before that name was invented does
    not see them: manylinux2010 needs pip 19.0, manylinux2014 19.3, manylinux_2_NN 20.3. Distributions ship old pips, and a
    new virtual environment gets the one of its Python.

    ## How it shows
    - `ERROR: No matching distribution found for tensorflow==2.1.0`, or `(from versions: none)`
    - A much older TensorFlow is installed than was expected

    ## How to be sure
    `python -m pip --version`, which also shows whether it belongs to the Python that was meant.

    ## What to do
    - All systems: `python -m pip install --upgrade pip` inside the environment, then install again with the same `python -m pip`.
    - The system's own Python: make a virtual environment first and upgrade there.
    - Docker: `RUN python3 -m pip install --upgrade pip` before the packages. Kubernetes: the same. Slurm: in the environment.
    - Python 3.6 and older: pip 21.3 is the last one; TensorFlow 2.6 is the last release.
    - Windows, macOS: their wheels need no such name; a pip that old is worth an upgrade all the same.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/37316
    - https://github.com/pypa/manylinux
    """
    if platform.system != "linux" or packages.installed:
        raise NotApplicable(_("TensorFlow is installed") if packages.installed else _("this is not Linux"))
    have = _version(interpreter.pip)
    lost = [(need, kind) for need, kind in _FIRST if have is not None and have < Version(need)]
    if not lost:
        return None
    need = lost[-1][0]
    return Diagnosis(
        _("pip {have} does not see wheels of the kind {kinds}; it takes pip {need}.").format(
            have=interpreter.pip, kinds=", ".join(kind for _need, kind in lost), need=need
        ),
        evidence=(Evidence(_("pip {version}").format(version=interpreter.pip), interpreter.source),),
        fixes=(remedies.install(interpreter, f"pip>={need}", title=_("Upgrade pip in this environment")),),
        severity=Severity.ERROR if len(lost) == len(_FIRST) else None,
    )


def _version(pip: Optional[str]) -> Optional[Version]:
    """pip's version; None when it was not told or there is none."""
    try:
        return Version(pip) if pip else None
    except InvalidVersion:
        return None
