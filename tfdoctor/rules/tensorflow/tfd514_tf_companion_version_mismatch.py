"""TFD514 tf-companion-version-mismatch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._requirements import parsed, stated, vendor_or_conda
from tfdoctor.tables import Tables, fits
from tfdoctor.tables.tf_rows import Companion

#: What TensorFlow itself asks for, where being outside of the range shows (others are judged by rules of their own).
_OWN = ("numpy", "protobuf", "ml-dtypes", "h5py", "tensorboard", "tensorflow-estimator", "gast")
#: Judged by rules of their own (tf-keras), or loaded only when a remote file system is used.
_ELSEWHERE = ("tf-keras", "tensorflow-io-gcs-filesystem")


@rule("TFD514", Severity.WARNING)
def tf_companion_version_mismatch(
    tensorflow: TensorFlow, distributions: Distributions, tables: Tables, interpreter: Optional[Interpreter]
) -> Found:
    """A package that must match TensorFlow was made for another TensorFlow release.

    ## What it is
    TensorFlow's C++ interface changes with every minor release. Packages with compiled operations (tensorflow-text, -io, -addons,
    -decision-forests) fit exactly one; others (tensorflow-probability, tf-agents, tensorboard, ml-dtypes, h5py) state a
    range. Some name TensorFlow only in an extra, so pip lets them drift apart. NVIDIA's own TensorFlow differs from the
    official wheel even at the same version.

    ## How it shows
    - `undefined symbol: _ZN10tensorflow8OpKernel…` when the companion is imported
    - `This version of TensorFlow Probability requires TensorFlow version >= 2.12; Detected an installation of version 2.10.1`
    - tensorflow-addons warns and goes on

    ## How to be sure
    `python -m pip list | grep -i tensorflow`, then the compatibility table of the companion; `python -m pip check` where
    it states a range.

    ## What to do
    - All systems: the companion's release for this TensorFlow, named in the fix; give both in one command,
      `python -m pip install tensorflow==X tensorflow-text==X.*`.
    - tensorflow-addons (ended with 2.15) and tensorflow-io: replace what is used of them; there is no release for newer TensorFlow.
    - NVIDIA's image: only what is in it, or build the companion there.
    - Docker, Kubernetes, Slurm: in the image or environment file.

    ## References
    - https://github.com/tensorflow/text/issues/551
    - https://github.com/tensorflow/addons#python-op-compatibility-matrix
    - https://github.com/tensorflow/io#tensorflow-version-compatibility
    """
    release = parsed(tensorflow.version)
    if release is None or release.is_devrelease:
        return None
    found = list(_companions(tensorflow, distributions, tables, interpreter))
    if not vendor_or_conda(tensorflow, distributions):
        found += _own(tensorflow, distributions, tables, interpreter)
    return found


def _companions(
    tensorflow: TensorFlow, distributions: Distributions, tables: Tables, interpreter: Optional[Interpreter]
) -> Iterator[Diagnosis]:
    for name in sorted(distributions.by_name):
        version = distributions.version(name)
        row = tables.companion(name, version) if name not in _ELSEWHERE else None
        if row is None or fits(tensorflow.version, row.tensorflow):
            continue
        yield Diagnosis(
            _("{name} {have} goes with TensorFlow {need}, and {version} is installed.").format(
                name=name, have=version, need=row.tensorflow, version=tensorflow.version
            ),
            evidence=(
                Evidence(f"{name} {version}", distributions.source),
                Evidence(
                    _("{name} {version}: TensorFlow {range}").format(
                        name=name, version=row.version, range=row.tensorflow
                    ),
                    row.source,
                ),
            ),
            fixes=(_fix(row, version, tensorflow, tables, interpreter),),
        )


def _fix(
    row: Companion, version: str, tensorflow: TensorFlow, tables: Tables, interpreter: Optional[Interpreter]
) -> Fix:
    """The release of the companion for this TensorFlow; an old one whose range has no upper end is none for a new one."""
    python = interpreter.version if interpreter is not None else None
    fitting = tables.companion_for(row.name, tensorflow.version, python)
    have = parsed(version)
    if fitting is None or have is None or (Version(fitting.version) < have) != _too_old(tensorflow, row):
        return remedies.by_hand(
            _("There is no {name} for TensorFlow {version}: remove it, or use an older TensorFlow").format(
                name=row.name, version=tensorflow.version
            )
        )
    return remedies.install(interpreter, f"{row.name}=={fitting.version}")


def _too_old(tensorflow: TensorFlow, row: Companion) -> bool:
    """Whether TensorFlow lies below the companion's range, and not above it."""
    lower = [one for one in SpecifierSet(row.tensorflow) if one.operator in (">=", "~=", "==", ">")]
    return any(fits(tensorflow.version, f"<{one.version.rstrip('.*')}") for one in lower)


def _own(
    tensorflow: TensorFlow, distributions: Distributions, tables: Tables, interpreter: Optional[Interpreter]
) -> Iterator[Diagnosis]:
    for name in _OWN:
        version = distributions.version(name)
        ranges = stated(name, tensorflow, tables, distributions, interpreter)
        if not version or parsed(version) is None or ranges is None or ranges.allows(version):
            continue
        if _judged_elsewhere(name, version, tensorflow):
            continue
        yield Diagnosis(
            _("{name} {have} is outside of what TensorFlow {version} asks for ({need}).").format(
                name=name, have=version, version=tensorflow.version, need=ranges.text
            ),
            evidence=(
                Evidence(f"{name} {version}", distributions.source),
                Evidence(f"{name} {ranges.text}", ranges.source),
            ),
            fixes=(remedies.install(interpreter, f"{name}{ranges.ranges[0]}"),),
        )


def _judged_elsewhere(name: str, version: str, tensorflow: TensorFlow) -> bool:
    """Where a wrong version stops the import: NumPy 2 before 2.18, a protobuf too new before 2.12 or too old from 2.20 on."""
    if name == "numpy":
        return fits(version, ">=2") and fits(tensorflow.version, "<2.18.dev0")
    old, new = fits(tensorflow.version, "<2.12.dev0"), fits(tensorflow.version, ">=2.20.dev0")
    return name == "protobuf" and (old or new)
