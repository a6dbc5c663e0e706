"""TFD516 and-cuda-extra-unresolvable."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.rules._log import line


@rule("TFD516", Severity.ERROR)
def and_cuda_extra_unresolvable(log: LogMatch, interpreter: Optional[Interpreter]) -> Found:
    """The extra and-cuda of this release asks for TensorRT packages that the public index does not have.

    ## What it is
    The extra of TensorFlow 2.15.0 pins `tensorrt`, `tensorrt-libs` and `tensorrt-bindings` 8.6.1. The first is on the public index,
    the others only on NVIDIA's own index. 2.15.0.post1 (Linux) and 2.15.1 dropped TensorRT from the extra; 2.14 asks for
    TensorRT 8.5.3.1, which is there but large.

    ## How it shows
    `ERROR: Could not find a version that satisfies the requirement tensorrt-libs==8.6.1; extra == "and-cuda"`,
    `No matching distribution found for tensorrt-libs==8.6.1`

    ## How to be sure
    The line names `tensorrt-libs==8.6.1` and `extra == "and-cuda"`. The Python version is not the reason.

    ## What to do
    - Linux, WSL2: `python -m pip install 'tensorflow[and-cuda]==2.15.1'`. The release is otherwise the same.
    - To keep 2.15.0: add NVIDIA's own package index with `--extra-index-url`, or install the NVIDIA packages of the extra
      without TensorRT. TensorFlow works without it.
    - poetry, uv, conda's pip section: the same pin in the lock file has to change.
    - Docker, Kubernetes, Slurm: in the requirements of the image.
    - Windows, macOS: the extra is for Linux only.

    ## References
    - https://github.com/NVIDIA/TensorRT/issues/2933
    - https://www.tensorflow.org/install/pip
    """
    return Diagnosis(
        _("tensorflow[and-cuda] 2.15.0 asks for tensorrt-libs 8.6.1, which is not on the public package index."),
        evidence=(line(log),),
        fixes=(remedies.install(interpreter, "tensorflow[and-cuda]==2.15.1"),),
    )
