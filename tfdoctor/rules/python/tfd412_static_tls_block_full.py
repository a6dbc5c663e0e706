"""TFD412 static-tls-block-full."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line, value


@rule("TFD412", Severity.ERROR)
def static_tls_block_full(log: LogMatch) -> Found:
    """A library needs a place in the loader's small block for thread-local data, and the block is full.

    ## What it is
    Some libraries (libgomp of OpenMP above all) keep data for each thread in a block of fixed size that the loader lays out when
    the program starts. A library that is opened later gets what is left of it. On 64-bit ARM (Jetson, Graviton, Grace) many
    programs fill the block before such a library is opened, and it cannot be opened any more. It is about the order of imports;
    main memory is not short.

    ## How it shows
    `ImportError: …/libgomp-d22c30c5.so.1.0.0: cannot allocate memory in static TLS block`, while TensorFlow, OpenCV or
    scikit-learn is imported.

    ## How to be sure
    The same import works with `LD_PRELOAD` set to the library in the message.

    ## What to do
    - Linux, Jetson: `export LD_PRELOAD=FILE`, with the file that the message names; or import that package first of all.
    - glibc 2.32 and newer: `export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=2000000` makes the block larger.
    - Docker, Kubernetes: `ENV LD_PRELOAD=…` in the image. Slurm: in the job script.
    - Windows, macOS: does not arise.

    ## References
    - https://github.com/opencv/opencv/issues/14884
    - https://www.gnu.org/software/libc/manual/html_node/Dynamic-Linking-Tunables.html
    """
    library = value(log, "library", "")
    what = library.rpartition("/")[2] or _("A library")
    return Diagnosis(
        _("{library} cannot be opened any more: the loader's block for thread-local data is full.").format(
            library=what
        ),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Set LD_PRELOAD to the library in the message, so that it is opened first")),),
    )
