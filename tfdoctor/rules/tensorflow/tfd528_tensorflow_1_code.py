"""TFD528 tensorflow-1-code."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line, value


@rule("TFD528", Severity.ERROR)
def tensorflow_1_code(log: LogMatch) -> Found:
    """The program was written for TensorFlow 1 and runs with TensorFlow 2, which no longer has those names.

    ## What it is
    TensorFlow 2 moved `Session`, `placeholder`, `ConfigProto`, `GPUOptions` and the rest of TensorFlow 1 to `tf.compat.v1`, and dropped
    `tf.contrib`. The program ends at the first of them. Nothing is wrong with driver, CUDA, GPU or installation.

    ## How it shows
    - `AttributeError: module 'tensorflow' has no attribute 'Session'` (`placeholder`, `ConfigProto`, `GPUOptions`, `get_default_graph`, `app` …)
    - `ModuleNotFoundError: No module named 'tensorflow.contrib'`
    - `AttributeError: module 'tensorflow' has no attribute 'contrib'`

    ## How to be sure
    `python -c "import tensorflow as tf; print(tf.__version__)"` prints 2 or more. When the import gives a module without any of
    TensorFlow's names, also the new ones, it is tensorflow-shadowed-by-local-file or tensorflow-files-damaged instead.

    ## What to do
    - Quickest: `import tensorflow.compat.v1 as tf` and `tf.disable_v2_behavior()`. It runs on the GPU as before.
    - `tf_upgrade_v2 --infile old.py --outfile new.py` comes with TensorFlow and renames what has a new name.
    - GPU memory in the new way: `tf.config.experimental.set_memory_growth(gpu, True)` in the place of `ConfigProto(gpu_options=…)`.
    - `tf.contrib` has no successor as a whole: `tf_slim` for slim, TensorFlow Addons or Keras for layers and losses.
    - TensorFlow 1.15 itself needs Python 3.7 or older and CUDA 10.0: only with a container (NVIDIA's `tensorflow:…-tf1-py3`) on new cards.
    - Linux, WSL2, Windows, macOS, Docker, Kubernetes, Slurm: the same.

    ## References
    - https://www.tensorflow.org/guide/migrate
    - https://www.tensorflow.org/guide/migrate/upgrade
    """
    name = value(log, "attribute", "contrib")
    return Diagnosis(
        _("The program asks for tensorflow.{name}, which TensorFlow 1 had and TensorFlow 2 has not.").format(name=name),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Use tensorflow.compat.v1, or move the program to TensorFlow 2")),),
    )
