"""TFD512 keras-tf-version-mismatch."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._requirements import parsed, stated
from tfdoctor.tables import Tables


@rule("TFD512", Severity.ERROR, caused_by=("TFD511",))
def keras_tf_version_mismatch(
    tensorflow: TensorFlow, distributions: Distributions, tables: Tables, interpreter: Optional[Interpreter]
) -> Found:
    """The installed Keras is not the one that this TensorFlow goes with.

    ## What it is
    From 2.6 to 2.15 TensorFlow and Keras of the same minor version belong together: Keras imports internals of its
    TensorFlow that come and go. From 2.16 on TensorFlow wants a Keras 3 of at least the version in its metadata; with
    Keras 2 beside it `tf.keras` does not work.

    ## How it shows
    - `cannot import name 'dtensor' from 'tensorflow.compat.v2.experimental'`
    - `module 'tensorflow.python.…' has no attribute '…'` from inside `keras/`
    - `ImportError` at `from tensorflow import keras`; the GPU is listed

    ## How to be sure
    `python -m pip show keras tensorflow`, and `python -m pip check`, which states the range that is violated.

    ## What to do
    - All systems, TensorFlow 2.6 to 2.15: `python -m pip install 'keras==2.N.*'` with TensorFlow's minor version N.
    - TensorFlow 2.16 and newer: `python -m pip install -U keras`. Keras 2 is then `tf-keras`.
    - `keras-nightly` beside `keras` writes the same folder: remove both and install one.
    - Docker, Kubernetes, Slurm: in the image or environment file.

    ## References
    - https://github.com/Yuchen413/text2image_safety/issues/6
    - https://keras.io/getting_started/
    """
    version = distributions.version("keras")
    keras, release = parsed(version), parsed(tensorflow.version)
    if keras is None or release is None or release.is_devrelease:
        return None
    ranges = stated("keras", tensorflow, tables, distributions, interpreter)
    if ranges is None or ranges.allows(version) or (keras.major >= 3 and release.release < (2, 16)):
        return None
    # Another Keras major breaks tf.keras; below the lower bound of the same major most of it works.
    same_major = keras.major >= 3
    return Diagnosis(
        _("keras {have} does not go with TensorFlow {version}, which needs keras {need}.").format(
            have=version, version=tensorflow.version, need=ranges.text
        ),
        evidence=(Evidence(f"keras {version}", distributions.source), Evidence(f"keras {ranges.text}", ranges.source)),
        fixes=(remedies.install(interpreter, f"keras{ranges.ranges[0]}"),),
        severity=Severity.WARNING if same_major else None,
    )
