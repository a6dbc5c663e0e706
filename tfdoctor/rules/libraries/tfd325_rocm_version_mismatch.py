"""TFD325 rocm-version-mismatch."""

from __future__ import annotations

import re
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.rocm import Rocm
from tfdoctor.probes.tensorflow import TensorFlow


@rule("TFD325", Severity.WARNING)
def rocm_version_mismatch(rocm: Rocm, tensorflow: TensorFlow) -> Found:
    """The ROCm on this machine is another release than this TensorFlow was built for.

    ## What it is
    AMD's build of TensorFlow opens ROCm's libraries by name, and names come and go between ROCm releases (`hip_hcc`
    vanished with 3.7). Each `tensorflow-rocm` belongs to one ROCm release: from 2.10 on the last part of its version says
    which, `.600` is ROCm 6.0.0.

    ## How it shows
    - `Cannot find rocm library hip_hcc`, `libhipblas.so.2: cannot open shared object file`
    - `list_physical_devices('GPU')` is `[]` although `rocm-smi` lists the GPU

    ## How to be sure
    `cat /opt/rocm/.info/version` against the last part of `python -m pip show tensorflow-rocm`.

    ## What to do
    - Linux: install the `tensorflow-rocm` that belongs to the ROCm which is there; from ROCm 6.1 on AMD publishes the
      wheels on its own server, per ROCm release. Or install that ROCm beside the other (`/opt/rocm-X.Y.Z`).
    - Docker, Kubernetes: `rocm/tensorflow` images hold a matching pair; the host needs only the kernel driver.
    - Slurm: the ROCm module of that release.
    - Windows, WSL2, macOS: there is no official ROCm build of TensorFlow for native Windows or macOS.

    ## References
    - https://rocm.docs.amd.com/en/latest/compatibility/compatibility-matrix.html
    - https://github.com/tensorflow/tensorflow/issues/42975
    """
    wanted = built_for(tensorflow)
    if wanted is None or not rocm.version:
        return None
    have = tuple(int(part) for part in re.findall(r"\d+", rocm.version)[:2])
    if have == wanted:
        return None
    return Diagnosis(
        _("{distribution} {version} was built for ROCm {wanted}, and ROCm {have} is installed.").format(
            distribution=tensorflow.distribution,
            version=tensorflow.version,
            wanted="{}.{}".format(*wanted),
            have=rocm.version,
        ),
        evidence=(
            Evidence(_("ROCm {version}").format(version=rocm.version), rocm.source),
            Evidence(_("built for ROCm {version}").format(version="{}.{}".format(*wanted)), tensorflow.source),
        ),
        fixes=(
            remedies.by_hand(
                _("Install the tensorflow-rocm that belongs to ROCm {version}").format(version=rocm.version)
            ),
        ),
        severity=Severity.ERROR if have[:1] != wanted[:1] else None,
    )


def built_for(tensorflow: TensorFlow) -> Optional[tuple[int, int]]:
    """(6, 0) of tensorflow-rocm "2.14.0.600"; None where the version does not tell."""
    found = re.fullmatch(r"\d+\.\d+\.\d+\.(\d)(\d)\d", tensorflow.version)
    if tensorflow.distribution != "tensorflow-rocm" or found is None:
        return None
    return int(found.group(1)), int(found.group(2))
