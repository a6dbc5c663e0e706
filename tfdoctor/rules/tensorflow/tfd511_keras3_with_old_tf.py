"""TFD511 keras3-with-old-tf."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._requirements import between, parsed, stated
from tfdoctor.tables import Tables


@rule("TFD511", Severity.ERROR)
def keras3_with_old_tf(
    tensorflow: TensorFlow, distributions: Distributions, tables: Tables, interpreter: Optional[Interpreter]
) -> Found:
    """Keras 3 is installed beside a TensorFlow whose tf.keras needs Keras 2.

    ## What it is
    From 2.6 to 2.15 `tf.keras` is the distribution `keras` of the same minor version (2.6 to 2.15). Keras 3 has another inside
    and goes with TensorFlow 2.16 and newer. An upgrade of `keras` alone, or a package that asks for `keras` without a
    limit, breaks `tf.keras`; the rest of TensorFlow, the GPU included, works.

    ## How it shows
    - `AttributeError: module 'keras._tf_keras.keras' has no attribute '__internal__'`
    - `cannot import name '…' from 'keras'`, at the first use of `tf.keras`

    ## How to be sure
    `python -m pip show keras tensorflow`: Keras 3 beside TensorFlow 2.15 or older. `python -m pip check` says so too.

    ## What to do
    - All systems: `python -m pip install 'keras==2.15.*'` with TensorFlow's own minor version in place of 2.15.
    - Or raise TensorFlow to 2.16 or newer, which brings Keras 3 by itself; old code may then need `tf-keras` and
      `TF_USE_LEGACY_KERAS=1`.
    - Add the pin to requirements, or the next upgrade undoes it.
    - Docker, Kubernetes, Slurm: in the image or environment file.

    ## References
    - https://github.com/tensorflow/probability/issues/1774
    - https://keras.io/getting_started/#tensorflow--keras-2-backwards-compatibility
    """
    version = distributions.version("keras")
    keras, release = parsed(version), parsed(tensorflow.version)
    if keras is None or release is None or keras.major < 3 or not between(tensorflow.version, "2.6", "2.16"):
        return None
    need = f"=={release.major}.{release.minor}.*"
    ranges = stated("keras", tensorflow, tables, distributions, interpreter)
    source = ranges.source if ranges else tensorflow.source
    return Diagnosis(
        _("keras {have} is installed, and TensorFlow {version} needs keras {need}: tf.keras does not work.").format(
            have=version, version=tensorflow.version, need=f"{release.major}.{release.minor}"
        ),
        evidence=(
            Evidence(f"keras {version}", distributions.source),
            Evidence(f"keras {ranges.text if ranges else need}", source),
        ),
        fixes=(remedies.install(interpreter, f"keras{need}"),),
    )
