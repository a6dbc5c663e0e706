"""TFD526 requirements-conflict."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line, value


@rule("TFD526", Severity.ERROR)
def requirements_conflict(log: LogMatch) -> Found:
    """Another package and this TensorFlow ask for versions of a third one that exclude each other.

    ## What it is
    Every TensorFlow release names the versions of typing-extensions, protobuf, numpy and others that it works with. Where another
    package in the same environment, or a pinned line of requirements.txt, asks for a version outside that range, pip refuses, or
    installs one of the two and reports the other as broken. Often only one requirement is too strict.

    ## How it shows
    - `ERROR: Cannot install … because these package versions have conflicting dependencies`, a list of who asks for what, and
      `ResolutionImpossible`
    - `tensorflow 2.13.1 requires typing-extensions<4.6.0,>=3.6.6, but you have typing-extensions 4.12.2 which is incompatible.`
    - uv: `No solution found when resolving dependencies`

    ## How to be sure
    `python -m pip check` names each requirement that is not met. Conflicts over numpy, keras and protobuf have diagnoses of their
    own, because they break TensorFlow in known ways: numpy-abi-mismatch, keras3-with-old-tf, protobuf-too-new.

    ## What to do
    - All systems: do not pin what is not needed; let pip choose TensorFlow's version (`tensorflow` in place of `tensorflow==2.11`)
      or the other package's.
    - A newer TensorFlow: typing-extensions has had no upper bound since 2.14, protobuf's bound is below 5 since 2.12 (3.20 before).
    - Two programs that cannot agree belong into two environments: `python -m venv`.
    - PyTorch and TensorFlow both bring CUDA libraries as pip packages, each with its own versions: two environments, or
      TensorFlow without the extra and-cuda.

    ## References
    - https://pip.pypa.io/en/stable/topics/dependency-resolution/
    - https://github.com/tensorflow/tensorflow/issues/51743
    """
    package, needs = value(log, "needy", ""), value(log, "needs", "")
    if package and needs:
        message = _("{package} asks for {needs}, which does not go with what else is asked for or installed.").format(
            package=package, needs=needs
        )
    else:
        message = _("The packages that are asked for need versions of another package that exclude each other.")
    return Diagnosis(
        message,
        evidence=(line(log),),
        fixes=(
            remedies.by_hand(
                _("Loosen the requirement that is too strict, or give the two packages environments of their own"),
                ("python", "-m", "pip", "check"),
            ),
        ),
    )
