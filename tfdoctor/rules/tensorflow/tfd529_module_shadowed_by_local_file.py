"""TFD529 module-shadowed-by-local-file."""

from __future__ import annotations

import posixpath
from typing import Optional

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.imports import Imports
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.tensorflow import TensorFlowPackages
from tfdoctor.remedies import by_hand


@rule("TFD529", Severity.ERROR, blocks=True)
def module_shadowed_by_local_file(
    packages: TensorFlowPackages,
    imports: Optional[Imports],
    interpreter: Optional[Interpreter],
    distributions: Optional[Distributions],
) -> Found:
    """A file in the working directory or on PYTHONPATH hides a module that TensorFlow imports.

    ## What it is
    Python searches the folder of the program, or the working directory, first, then PYTHONPATH, then its own library and the
    installed packages. A file of one's own named `random.py`, `queue.py`, `logging.py`, `types.py` or `packaging.py` there is
    what TensorFlow gets when it imports the module of that name. A full copy of the module does no harm; anything else
    ends the import.

    ## How it shows
    - `ImportError: cannot import name 'Queue' from 'queue' (/home/me/project/queue.py)`: the path in brackets is one's own
    - `AttributeError: partially initialized module 're' has no attribute 'compile' (most likely due to a circular import)`
    - `ModuleNotFoundError: No module named 'six.moves'; 'six' is not a package`

    ## How to be sure
    `python -c "import random; print(random.__file__)"` in that folder, with the module that the message names. In another folder
    `import tensorflow` works.

    ## What to do
    - All systems: rename the file and remove the `__pycache__` beside it; or start the program from another folder.
    - PYTHONPATH: unset it, or take the folder out of it.
    - Python 3.11 and newer: `python -P program.py` leaves the program's folder out of the search.
    - Docker: the same with `WORKDIR`. Notebooks: the notebook's folder counts.

    ## References
    - https://docs.python.org/3/library/sys_path_init.html
    - https://docs.python.org/3/using/cmdline.html#cmdoption-P
    """
    if imports is None or not packages.installed:
        return None
    hidden = (*imports.shadows, *_before_their_own(imports, interpreter, distributions))
    if not hidden:
        return None
    return Diagnosis(
        _("{path} hides the module of that name, which TensorFlow imports.").format(path=", ".join(hidden)),
        evidence=tuple(Evidence(path, imports.source) for path in hidden),
        fixes=(by_hand(_("Rename {path}, or start from another folder").format(path=hidden[0])),),
        severity=Severity.WARNING,  # it may be a whole copy of the module
    )


def _before_their_own(
    imports: Imports, interpreter: Optional[Interpreter], distributions: Optional[Distributions]
) -> tuple[str, ...]:
    """What an import would take from a folder that is searched before the one in which the distribution is installed."""
    order = interpreter.search_path if interpreter else ()
    rank = {folder: place for place, folder in reversed([*enumerate(order)])}
    hidden = []
    for name, place in imports.found.items():
        own = distributions.by_name.get(name) if distributions else None
        folder = posixpath.dirname(place.replace("\\", "/"))
        folder = posixpath.dirname(folder) if name == "protobuf" else folder  # google.protobuf
        if own is not None and rank.get(folder, len(order)) < rank.get(own.location.replace("\\", "/"), -1):
            hidden.append(place)
    return tuple(hidden)
