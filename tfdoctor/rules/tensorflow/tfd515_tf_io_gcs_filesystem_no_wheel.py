"""TFD515 tf-io-gcs-filesystem-no-wheel."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.rules._log import line, value


@rule("TFD515", Severity.ERROR)
def tf_io_gcs_filesystem_no_wheel(log: LogMatch, interpreter: Optional[Interpreter]) -> Found:
    """pip wants a tensorflow-io-gcs-filesystem for which there is no wheel on this system or Python.

    ## What it is
    Some TensorFlow releases depend on the helper `tensorflow-io-gcs-filesystem`. Its wheels for Windows end at 0.31.0, and
    there is none for Python 3.13. A requirements file that was frozen on Linux pins 0.37.1, which Windows cannot have. From
    TensorFlow 2.20 on it is only an extra (`gcs-filesystem`).

    ## How it shows
    `ERROR: No matching distribution found for tensorflow-io-gcs-filesystem==0.37.1`, with a list of versions up to 0.31.0, or
    `(from versions: none)`

    ## How to be sure
    The line before it shows who asks: a pin in requirements, or TensorFlow itself.

    ## What to do
    - Windows: drop the pin from requirements (or write 0.31.0 with a marker `; sys_platform == 'win32'`).
    - Python 3.13: TensorFlow 2.20 or newer, or Python 3.12.
    - Apple silicon: drop the pin; the newer wheels exist for arm64 from 0.32 on.
    - Linux, WSL2: a pin that was made on another Python; take it out and let pip choose.
    - Docker, Kubernetes, Slurm: in the requirements of the image.

    ## References
    - https://github.com/tensorflow/io/issues/2109
    - https://github.com/SamuelSchmidgall/AgentLaboratory/issues/87
    """
    wanted = value(log, "version", "")
    return Diagnosis(
        _("There is no wheel of tensorflow-io-gcs-filesystem {version} for this system and Python.").format(
            version=wanted
        ),
        evidence=(line(log),),
        fixes=(
            remedies.by_hand(_("Take tensorflow-io-gcs-filesystem out of the requirements")),
            remedies.install(interpreter, "tensorflow>=2.20", title=_("Or a TensorFlow that does not need it")),
        ),
    )
