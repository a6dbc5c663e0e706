"""TFD413 libstdcxx-too-old."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line, value


@rule("TFD413", Severity.ERROR)
def libstdcxx_too_old(log: LogMatch) -> Found:
    """The system's own libstdc++ is older than the one that TensorFlow, or a module beside it, was built with.

    ## What it is
    `libstdc++.so.6` carries versions such as GLIBCXX_3.4.29, and a program needs at least the one that it was built with. On an old
    distribution the system's copy ends before that. Wheels that are made for many distributions carry what they need, so
    the module that asks is mostly one that was built elsewhere: by hand, by conda for its own libstdc++, for another board.

    ## How it shows
    `ImportError: /lib64/libstdc++.so.6: version 'CXXABI_1.3.9' not found (required by …)`. The path is below `/lib` or `/usr/lib`; a path
    in an environment or elsewhere is libstdcxx-shadowed-by-conda.

    ## How to be sure
    `strings /usr/lib/x86_64-linux-gnu/libstdc++.so.6 | grep GLIBCXX | sort -V | tail -1` (or the path in the message), and whose
    package the file after "required by" is: `python -m pip show --files NAME` or `conda list`.

    ## What to do
    - The module that asks belongs to conda: `conda install -c conda-forge libstdcxx-ng`, and start Python from the activated
      environment, so that its `lib` folder comes before the system's.
    - A wheel made elsewhere: the release of it that names an older `manylinux` tag, from the package index.
    - Else a newer distribution, or a container with one (`docker run --gpus all tensorflow/tensorflow:latest-gpu`).
    - Slurm: load a newer GCC module. Docker, Kubernetes: a newer base image. WSL2: as Linux. Windows, macOS: does not arise.

    ## References
    - https://gcc.gnu.org/onlinedocs/libstdc++/manual/abi.html
    - https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/
    """
    need = value(log, "version", _("a version that the program needs"))
    path = value(log, "path", _("the system's libstdc++.so.6"))
    return Diagnosis(
        _("The system's C++ library {path} is too old: it lacks {need}.").format(path=path, need=need),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Take what was built for this system, or a newer system or container")),),
    )
