"""TFD509 numpy-abi-mismatch."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._requirements import between, parsed, vendor_or_conda
from tfdoctor.tables import fits

#: The first release built for NumPy 2 (its wheel asks for numpy <2.1,>=1.26; all before were compiled for NumPy 1).
FIRST_NUMPY2 = "2.18"


@rule("TFD509", Severity.ERROR, blocks=True)
def numpy_abi_mismatch(
    tensorflow: TensorFlow,
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
) -> Found:
    """The installed NumPy has another binary interface than the one this TensorFlow was compiled for.

    ## What it is
    TensorFlow is compiled against NumPy's C interface. NumPy 2 changed it: modules built for NumPy 1 cannot use it. TensorFlow
    up to 2.17 was built for NumPy 1, from 2.18 on for NumPy 2 (and still runs with 1.26). Releases up to 2.14.0 do not
    forbid NumPy 2 in their metadata, so pip installs it. A second, older NumPy earlier on the search path (from apt, or the
    user's site) has the opposite effect.

    ## How it shows
    - `A module that was compiled using NumPy 1.x cannot be run in NumPy 2.0.0 as it may crash.`
    - `AttributeError: _ARRAY_API not found`, `ImportError: numpy.core.umath failed to import`
    - `RuntimeError: module compiled against API version 0x10 but this version of numpy is 0xe`

    ## How to be sure
    `python -c "import numpy; print(numpy.__version__, numpy.__file__)"` beside the version of TensorFlow.

    ## What to do
    - TensorFlow up to 2.17: `python -m pip install 'numpy<2'`. The driver and CUDA have nothing to do with it.
    - Or TensorFlow 2.18 and newer, which goes with NumPy 2.
    - Two copies: remove the one that comes first and is wrong (`python3-numpy` of the system), or use a virtual environment.
    - Other packages that were built for NumPy 2 only need their older release as well, or a second environment.
    - Docker, Kubernetes, Slurm: pin it in the image or environment file. Windows, macOS, WSL2: the same commands.

    ## References
    - https://numpy.org/doc/stable/numpy_2_0_migration_guide.html
    - https://github.com/CameronBodine/PINGMapper/issues/123
    """
    version = distributions.version("numpy") if distributions else ""
    numpy, release = parsed(version), parsed(tensorflow.version)
    if distributions is None or numpy is None or release is None:
        return None
    if numpy.major >= 2 and fits(tensorflow.version, f"<{FIRST_NUMPY2}.dev0"):
        foreign = vendor_or_conda(tensorflow, distributions)
        conda = foreign and "+" not in tensorflow.version
        return None if conda else _broken(tensorflow, distributions, interpreter, sure=not foreign)
    return None


def _broken(
    tensorflow: TensorFlow, distributions: Distributions, interpreter: Optional[Interpreter], *, sure: bool
) -> Diagnosis:
    """NumPy 2 beside a build for NumPy 1: the import fails."""
    version = distributions.version("numpy")
    copies = distributions.duplicates.get("numpy", ())
    fixes = [remedies.install(interpreter, "numpy<2")]
    if between(tensorflow.version, "2.16", FIRST_NUMPY2):
        newer = remedies.another_release(tensorflow, f">={FIRST_NUMPY2}")
        fixes.append(remedies.install(interpreter, newer, title=_("Or a TensorFlow built for NumPy 2")))
    return Diagnosis(
        _(
            "TensorFlow {version} was compiled for NumPy 1, and NumPy {have} is installed: it cannot be imported."
        ).format(version=tensorflow.version, have=version),
        evidence=(
            Evidence(f"numpy {version}", distributions.source),
            Evidence(
                _("built for NumPy 2 from {release} on").format(release=FIRST_NUMPY2),
                "https://numpy.org/doc/stable/numpy_2_0_migration_guide.html",
            ),
            *(
                (Evidence(_("several copies: {versions}").format(versions=", ".join(copies)), distributions.source),)
                if copies
                else ()
            ),
        ),
        fixes=tuple(fixes),
        severity=None if sure else Severity.WARNING,
    )
