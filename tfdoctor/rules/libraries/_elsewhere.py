"""The rules for libraries that lie somewhere the loader does not search differ in where; their diagnosis is one."""

from __future__ import annotations

from typing import Optional

from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Fix
from tfdoctor.probes.environment import Environment
from tfdoctor.rules.libraries._fixes import search_path
from tfdoctor.rules.libraries._which import Fault, Situation


def elsewhere(situation: Situation, cause: str, environment: Optional[Environment], *more: Fix) -> Optional[Diagnosis]:
    """The diagnosis `cause` when it is the one, with LD_LIBRARY_PATH over the copies' folders as the first fix."""
    fault = situation.fault(cause)
    if fault is None:
        return None
    return Diagnosis(
        message(fault, situation),
        evidence=fault.evidence,
        fixes=(search_path(fault.folders, environment), *more),
    )


def message(fault: Fault, situation: Situation) -> str:
    """What is missing, where it lies, and that the loader does not look there."""
    return _("{names} lies in {folders}, where the loader does not search for TensorFlow {version}.").format(
        names=fault.names, folders=", ".join(fault.folders), version=situation.tensorflow.version
    )
