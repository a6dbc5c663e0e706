"""TFD530 imported-beside-clashing-library."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line


@rule("TFD530", Severity.ERROR)
def imported_beside_clashing_library(log: LogMatch) -> Found:
    """Another library in the same process brings its own copy of what TensorFlow is built with, and the two clash.

    ## What it is
    PyTorch, torchvision, OpenCV and others carry their own protobuf, memory allocator, OpenMP or C++ runtime in their binary files.
    Whichever is loaded first decides for the whole process, and the second one works on structures that are not its own.
    Each library works alone; together they end the process, mostly depending on the order of the imports.

    ## How it shows
    - `Segmentation fault` at `import tensorflow` after another import, and not when TensorFlow is imported first
    - `free(): invalid pointer`, `double free or corruption`
    - `SystemError: google/protobuf/pyext/descriptor.cc: bad argument to internal function`
    - `File already exists in database` of libprotobuf

    ## How to be sure
    `python -c "import tensorflow"` works; the same after the other import does not, and with the order changed it does.
    `python -X faulthandler` shows in whose files it ends.

    ## What to do
    - Quickest: import TensorFlow before the other library, in the first lines of the program.
    - Lasting: take both from the same place (all by pip, or all from conda-forge), in current versions.
    - Where only one of them is needed in a step, run the steps as two processes.
    - A protobuf of conda or of the system beside pip's: `pip install --force-reinstall protobuf` in the version that TensorFlow asks for.
    - Linux, WSL2, Windows, macOS, Docker, Kubernetes, Slurm: the same.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/48797
    - https://github.com/tensorflow/tensorflow/issues/14812
    """
    return Diagnosis(
        _("TensorFlow and another library in the same process clash: each works alone."),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Import TensorFlow first, or take both libraries from the same source")),),
    )
