"""TFD329 cudnn-runtime-newer-than-build."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line, value


@rule("TFD329", Severity.ERROR)
def cudnn_runtime_newer_than_build(log: LogMatch) -> Found:
    """The cuDNN that TensorFlow loads is newer than this build accepts.

    ## What it is
    TensorFlow compares the cuDNN that it loads with the one it was built with. Releases up to 1.8 wanted the same version, later
    ones accept a newer minor version of the same major version. A library that was linked under the old file name, or a build from
    source against another cuDNN, gets past the loader and is refused here.

    ## How it shows
    - `Loaded runtime CuDNN library: 6021 (compatibility version 6000) but source was compiled with 5105 (compatibility version 5100)`
    - then `could not create cudnn handle`, or every convolution fails

    ## How to be sure
    The line states both versions: the first one is loaded, the second one is the build's.

    ## What to do
    - Take the TensorFlow release that was built for the installed cuDNN (table of tested builds).
    - Or install the cuDNN that the message names second, and remove links that give a newer file the old name.
    - Built from source: build again with the cuDNN that will be there at run time.
    - Linux, WSL2, Windows, Docker, Kubernetes, Slurm: the same. macOS: there is no cuDNN.

    ## References
    - https://www.tensorflow.org/install/source#gpu
    - https://github.com/nicolov/segmentation_keras/issues/32
    """
    have, needed = value(log, "cudnn", _("newer")), value(log, "cudnn_build", _("older"))
    return Diagnosis(
        _("TensorFlow loads cuDNN {have}, was built with {needed} and does not accept the newer one.").format(
            have=have, needed=needed
        ),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Use the TensorFlow release that fits this cuDNN, or the cuDNN of the build")),),
    )
