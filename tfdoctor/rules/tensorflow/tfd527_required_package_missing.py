"""TFD527 required-package-missing."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _, ngettext
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.imports import Imports
from tfdoctor.probes.interpreter import Distribution, Distributions, Interpreter
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._requirements import stated
from tfdoctor.tables import Tables, fits

#: Distribution -> the releases whose import fails without it. Seen with 2.10.1, 2.15.1, 2.18.1, 2.19.1 and 2.21.0, each taken away by
#: itself. Without h5py, keras, grpcio, google-pasta, optree, rich, namex or tensorboard they list their devices all the same.
NEEDED = {
    "absl-py": "",
    "astunparse": ">=2.10.dev0",
    "certifi": ">=2.10.dev0",
    "flatbuffers": ">=2.10.dev0",
    "gast": "",
    "idna": ">=2.10.dev0",
    "ml-dtypes": ">=2.15.dev0",
    "numpy": "",
    "opt-einsum": ">=2.10.dev0",
    "packaging": ">=2.19.dev0",
    "protobuf": "",
    "requests": ">=2.10.dev0",
    "six": "",
    "termcolor": ">=2.10.dev0",
    "typing-extensions": ">=2.10.dev0",
    "urllib3": ">=2.10.dev0",
    "wrapt": "",
}
#: They are their compiled module; wrapt and protobuf have another way where theirs is not to be had.
COMPILED = frozenset({"numpy", "ml-dtypes"})
#: Of these TensorFlow imports no more than the name at once, which a folder without files serves.
NAME_ALONE = frozenset({"astunparse", "idna", "opt-einsum", "requests", "termcolor"})


@rule("TFD527", Severity.ERROR, blocks=True)
def required_package_missing(
    tensorflow: TensorFlow,
    distributions: Distributions,
    imports: Optional[Imports],
    tables: Tables,
    interpreter: Optional[Interpreter],
) -> Found:
    """A Python package that TensorFlow imports when it starts is missing, lacks files or was installed for another Python.

    ## What it is
    `import tensorflow` imports numpy, protobuf, absl-py and a few more. pip installs them along, and later they may get lost:
    `pip uninstall`, an installation with `--no-deps`, a disk that was full, an environment that was copied in part, an image that
    was made smaller by deleting files. PYTHONPATH may bring packages of another Python, whose compiled modules this one
    does not find. Not all that TensorFlow requires is imported at once: Keras and h5py are not.

    ## How it shows
    - `ModuleNotFoundError: No module named 'numpy'` (or `'google.protobuf'`, `'absl'`, `'flatbuffers.compat'`)
    - `No module named 'numpy._core._multiarray_umath'`, `Error importing numpy: you should not try to import numpy from its source`
    - `AttributeError: module 'numpy' has no attribute 'integer'`, `cannot import name 'message' from 'google.protobuf' (unknown
      location)`: the folder is there and empty

    ## How to be sure
    `python -c "import numpy; print(numpy.__file__)"`, with the package that the message names. `python -m pip check` tells a package
    that is not installed, and not one whose files are gone.

    ## What to do
    - All systems: install that package again, in the version that TensorFlow takes; tfdoctor names the command.
    - After `--no-deps`: `python -m pip install tensorflow==VERSION` once more, without it.
    - Docker: rebuild the image, and do not delete from site-packages what is not known to be useless.
    - Packages of another Python: take their folder off PYTHONPATH, and install them with this one.
    - conda: `conda install --force-reinstall PACKAGE`. Slurm, shared folders: look at quotas and purges of old files.

    ## References
    - https://pip.pypa.io/en/stable/cli/pip_check/
    - https://packaging.python.org/en/latest/specifications/recording-installed-packages/
    """
    needed = [name for name, versions in NEEDED.items() if fits(tensorflow.version, versions)]
    nothing = imports.missing | (imports.hollow - NAME_ALONE) if imports is not None else frozenset()
    lost = [name for name in needed if name in nothing]
    there = [d for d in map(distributions.by_name.get, needed) if d is not None and d.name not in lost]
    foreign = [d for d in there if d.foreign and d.name in COMPILED]
    torn = [d for d in there if d.gone and d not in foreign]
    if not (lost or foreign or torn):
        return None
    known = [distributions.by_name[name] for name in lost if name in distributions.by_name]
    # An import hook (an editable installation) can find what lies in no folder of the path.
    hooked = bool(lost) and len(known) == len(lost) and not any(d.gone for d in known)
    return Diagnosis(
        _message(tensorflow, lost, foreign, torn, interpreter),
        evidence=(
            *(Evidence(_("{name} is not found").format(name=name), imports.source if imports else "") for name in lost),
            *(Evidence(d.foreign, f"RECORD of {d.name} {d.version}") for d in foreign),
            *(Evidence(path, f"RECORD of {d.name} {d.version}") for d in (*known, *torn) for path in d.damage[:3]),
        ),
        fixes=tuple(
            _afresh(name, tensorflow, distributions, tables, interpreter)
            for name in [*lost, *(d.name for d in (*foreign, *torn))]
        ),
        # Whether what is missing of a package is needed at once nobody knows.
        severity=None if foreign or (lost and not hooked) else Severity.WARNING,
    )


def _message(
    tensorflow: TensorFlow,
    lost: list[str],
    foreign: list[Distribution],
    torn: list[Distribution],
    interpreter: Optional[Interpreter],
) -> str:
    if lost:
        return _("TensorFlow {version} cannot start: Python finds no {names}, which it imports.").format(
            version=tensorflow.version, names=", ".join(lost)
        )
    if foreign:
        return _(
            "TensorFlow {version} cannot start: {names} in {folder} was installed for another Python than {python}."
        ).format(
            version=tensorflow.version,
            names=", ".join(d.name for d in foreign),
            folder=foreign[0].location,
            python=interpreter.version if interpreter else "?",
        )
    first = torn[0]
    wording = ngettext(
        "{count} file of {name} {version}, which TensorFlow imports, is missing or cut short: {path}.",
        "{count} files of {name} {version}, which TensorFlow imports, are missing or cut short, {path} among them.",
        first.gone or 0,
    )
    path = first.damage[0] if first.damage else "?"
    return wording.format(count=first.gone, name=first.name, version=first.version, path=path)


def _afresh(
    name: str,
    tensorflow: TensorFlow,
    distributions: Distributions,
    tables: Tables,
    interpreter: Optional[Interpreter],
) -> Fix:
    """The version that was there; where none was, one that TensorFlow takes."""
    version = distributions.version(name)
    if version:
        return remedies.reinstall(interpreter, f"{name}=={version}")
    asked = stated(name, tensorflow, tables, distributions, interpreter)
    return remedies.install(interpreter, name + (asked.ranges[0] if asked and len(asked.ranges) == 1 else ""))
