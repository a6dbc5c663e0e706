"""TFD402 python-version-unsupported."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlowPackages
from tfdoctor.rules.python._wheels import every_python, number, pythons, readable, tag
from tfdoctor.tables import Tables


@rule("TFD402", Severity.ERROR, caused_by=("TFD401",), blocks=True)
def python_version_unsupported(
    interpreter: Interpreter, packages: TensorFlowPackages, tables: Tables, platform: Optional[Platform]
) -> Found:
    """There is no TensorFlow for this version of Python.

    ## What it is
    Each TensorFlow release has wheels for a few Python versions, and a new Python gets TensorFlow only with a release that
    comes months later. Distributions and installers hand out the newest Python first. A pinned, old TensorFlow has none
    for newer Pythons, ever.

    ## How it shows
    - `ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)`
    - `ERROR: No matching distribution found for tensorflow==2.3.0`, with a list of later versions

    ## How to be sure
    `python --version` against the table of tested builds, or `tfdoctor compat --python 3.14`. A 32-bit Python, an old pip and
    Alpine Linux print the same lines; tfdoctor tells them apart.

    ## What to do
    - All systems: an environment with a Python that the wanted release supports:
      `uv venv --python 3.12`, `conda create -n tf python=3.12`, `pyenv install 3.12`, or the installer of python.org.
    - Keep the system's Python as it is.
    - A pinned old release: the newest patch that your Python has, or an older Python.
    - Docker, Kubernetes: `python:3.12-slim` in place of `python:latest`. Slurm: another Python module.
    - Windows: `py -3.12 -m venv …`. WSL2, macOS: as above.

    ## References
    - https://www.tensorflow.org/install/source#gpu
    - https://github.com/tensorflow/tensorflow/issues/79349
    """
    own = tag(interpreter.version)
    known = every_python(tables, platform)
    if packages.installed or not own or not known or own in known or interpreter.implementation not in ("CPython", ""):
        return None
    current = tables.releases()[0]
    best = max(pythons(current, platform) or current.pythons, key=number)
    return Diagnosis(
        _("No TensorFlow has a wheel for Python {version}; the newest, {release}, goes up to Python {newest}.").format(
            version=interpreter.version, release=current.version, newest=readable(best)
        ),
        evidence=(
            Evidence(_("Python {version}").format(version=interpreter.version), interpreter.source),
            Evidence(_("wheels for {pythons}").format(pythons=", ".join(sorted(known, key=number))), current.source),
        ),
        fixes=(remedies.by_hand(_("Make an environment with Python {version}").format(version=readable(best))),),
    )
