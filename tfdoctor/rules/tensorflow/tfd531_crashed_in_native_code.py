"""TFD531 crashed-in-native-code."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line


@rule("TFD531", Severity.ERROR)
def crashed_in_native_code(log: LogMatch) -> Found:
    """The program ended with a segmentation fault, and its log does not say in which library.

    ## What it is
    A library in machine code used memory that is not its own, and the system ended the process. Python could raise nothing, so
    the log stops there. That is a symptom; the library in which it happened tells what is behind it.

    ## How it shows
    - `Segmentation fault (core dumped)`, `Fatal Python error: Segmentation fault`, exit code 139, on Windows 0xC0000005
    - nothing before it that names a fault

    ## How to be sure
    `python -X faulthandler PROGRAM` prints the Python lines it happened in, and `gdb -batch -ex run -ex bt --args python PROGRAM` the
    library. Then: does `python -c "import tensorflow"` alone end so too?

    ## What to do
    - Alone it does not: another library clashes with it (imported-beside-clashing-library); import TensorFlow first.
    - Alone it does: files of several installations (tensorflow-distributions-mixed, tensorflow-files-damaged), NumPy of another
      binary interface (numpy-abi-mismatch): a new environment with TensorFlow alone settles these.
    - In libcuda or at the first use of the GPU: the driver (driver-does-not-answer), CUDA's multi-process service
      (mps-server-unavailable), libraries of another CUDA (cuda-major-mixed-libs).
    - In a module that was compiled for another TensorFlow (custom operations, Horovod): tf-companion-version-mismatch.
    - `Illegal instruction` on an ARM board (Jetson): NumPy's OpenBLAS takes the processor for another one; `OPENBLAS_CORETYPE=ARMV8`
      in the environment, or another NumPy.
    - Linux, WSL2, Windows, macOS, Docker, Kubernetes, Slurm: the same. In containers also look at the limit of the stack (`ulimit -s`).

    ## References
    - https://docs.python.org/3/library/faulthandler.html
    """
    return Diagnosis(
        _("The program crashed in machine code; the log does not say in which library."),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Run it once with `python -X faulthandler` to see in which library it crashes")),),
    )
