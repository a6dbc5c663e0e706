"""TFD409 libstdcxx-shadowed-by-conda."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line, value


@rule("TFD409", Severity.ERROR)
def libstdcxx_shadowed_by_conda(log: LogMatch) -> Found:
    """An old libstdc++ in the environment hides the system's newer one.

    ## What it is
    `libstdc++.so.6` carries versions such as GLIBCXX_3.4.29, and a program needs at least the one it was built with. conda brings
    its own copy, which programs inside the environment take first; an older one, or an odd folder on LD_LIBRARY_PATH (Matlab,
    a game, an old compiler), then hides the system's newer one. The system's GCC is not the fault.

    ## How it shows
    `ImportError: …/envs/tf/lib/libstdc++.so.6: version 'GLIBCXX_3.4.29' not found (required by …)`. The path in the message is not
    `/usr/lib` or `/lib`.

    ## How to be sure
    `strings FILE | grep GLIBCXX | sort -V | tail -1` for the file in the message, and for the system's
    `/usr/lib/x86_64-linux-gnu/libstdc++.so.6`.

    ## What to do
    - conda: `conda install -c conda-forge libstdcxx-ng` (newer), in the environment.
    - Another folder: take it off LD_LIBRARY_PATH.
    - The path is the system's own: libstdcxx-too-old.
    - Docker, Kubernetes: the same inside the image. Slurm: load a newer GCC module, or unload the one that hides it.
    - WSL2: as Linux. Windows, macOS: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/10596
    - https://gcc.gnu.org/onlinedocs/libstdc++/manual/abi.html
    """
    need = value(log, "version", _("a version that the program needs"))
    path = value(log, "path", _("The libstdc++.so.6 in the message"))
    return Diagnosis(
        _("{path} is taken first and is too old: it lacks {need}.").format(path=path, need=need),
        evidence=(line(log),),
        fixes=(
            remedies.by_hand(
                _("Install a newer libstdcxx-ng in the conda environment"),
                ("conda", "install", "-c", "conda-forge", "libstdcxx-ng"),
            ),
        ),
    )
