"""CUDA of another major than TensorFlow wants: as a fault, and, where libraries could not be looked at one by one, as a hint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.probes.toolkits import Toolkits
from tfdoctor.rules.libraries._which import Situation, cuda_major, from_conda, toolkit_majors, wheel_majors


@dataclass(frozen=True)
class OtherMajors:
    """Every toolkit and runtime wheel seen is of another major than TensorFlow wants."""

    majors: frozenset[int]
    source: str

    def unsure(self, tensorflow: TensorFlow, fixes: tuple[Fix, ...]) -> Diagnosis:
        """A warning: libraries elsewhere could not be looked for."""
        have = ", ".join(map(str, sorted(self.majors)))
        return Diagnosis(
            _("TensorFlow {version} was built for CUDA {cuda}, and the only CUDA seen here is {have}.").format(
                version=tensorflow.version, cuda=tensorflow.cuda, have=have
            ),
            evidence=(
                Evidence(_("CUDA {have}").format(have=have), self.source),
                Evidence(_("built for CUDA {cuda}").format(cuda=tensorflow.cuda), tensorflow.source),
            ),
            fixes=fixes,
            severity=Severity.WARNING,
        )


def only_other_majors(
    tensorflow: TensorFlow, toolkits: Optional[Toolkits], distributions: Optional[Distributions]
) -> Optional[OtherMajors]:
    """None unless toolkits and packages were both seen and all that they have is of another CUDA major."""
    wanted = cuda_major(tensorflow.cuda)
    if not tensorflow.cuda_build or wanted is None or toolkits is None or distributions is None:
        return None
    if from_conda(tensorflow, distributions):
        return None
    majors = {major for major in toolkit_majors(toolkits) | wheel_majors(distributions) if major is not None}
    return OtherMajors(frozenset(majors), toolkits.source) if majors and wanted not in majors else None


def of_another_major(situation: Situation, cause: str, *fixes: Fix) -> Found:
    """What a rule says whose fault is `cause`: the libraries, what they were built for, and what is there."""
    fault, tensorflow = situation.fault(cause), situation.tensorflow
    if fault is None:
        return None
    have = ", ".join(map(str, sorted(fault.majors)))
    message = _(
        "TensorFlow {version} was built for CUDA {cuda} and asks for {names}, but this machine has CUDA {have}."
    )
    built = Evidence(_("built for CUDA {cuda}").format(cuda=tensorflow.cuda), tensorflow.source)
    return Diagnosis(
        message.format(version=tensorflow.version, cuda=tensorflow.cuda, names=fault.names, have=have),
        evidence=(*fault.evidence, built),
        fixes=fixes,
    )
