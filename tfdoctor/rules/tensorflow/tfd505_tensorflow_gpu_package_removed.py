"""TFD505 tensorflow-gpu-package-removed."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.rules._log import line


@rule("TFD505", Severity.ERROR)
def tensorflow_gpu_package_removed(log: LogMatch, interpreter: Optional[Interpreter]) -> Found:
    """The distribution tensorflow-gpu no longer exists; its last version refuses to install on purpose.

    ## What it is
    Since TensorFlow 2.1 the distribution `tensorflow` holds the GPU build, and `tensorflow-gpu` was the same under another
    name. `tensorflow-gpu` 2.12.0 is an empty source archive whose set-up ends with an error that says so. Old
    requirements files and articles still name it.

    ## How it shows
    `Downloading tensorflow-gpu-2.12.0.tar.gz`, then `Preparing metadata (setup.py) ... error`,
    `python setup.py egg_info did not run successfully`. Further up: `The "tensorflow-gpu" package has been removed!`

    ## How to be sure
    The name in the first line: a `.tar.gz` of 2.12.0 with a few kilobytes. The Python version is not the reason.

    ## What to do
    - Linux x86_64, WSL2: `python -m pip install 'tensorflow[and-cuda]'` (2.14 and newer) and replace the name in
      requirements; another package that asks for it needs an update.
    - A program for an old release: `tensorflow-gpu` up to 2.11 still installs where its Python does (3.7 to 3.10).
    - Native Windows: `tensorflow<2.11`; later releases have no GPU there.
    - macOS, aarch64: `tensorflow`; there was never a `tensorflow-gpu`.
    - Docker, Kubernetes, Slurm: change the requirements file of the image or environment.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/60243
    - https://www.tensorflow.org/install/pip
    """
    return Diagnosis(
        _(
            "tensorflow-gpu 2.12.0 is an empty package that refuses to install; the GPU build is the package tensorflow."
        ),
        evidence=(line(log),),
        fixes=(remedies.install(interpreter, "tensorflow[and-cuda]"),),
    )
