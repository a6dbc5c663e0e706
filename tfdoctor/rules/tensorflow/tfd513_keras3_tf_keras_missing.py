"""TFD513 keras3-tf-keras-missing."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._requirements import parsed
from tfdoctor.tables import Tables, fits

#: Packages that use Keras 2 and do not make pip install tf-keras. transformers 5 has no TensorFlow code any more.
#: https://github.com/huggingface/transformers/issues/36410, https://github.com/tensorflow/probability/issues/1774
_WANT_KERAS2 = {"tensorflow-probability": "", "gpflow": "", "transformers": "<5"}


@rule("TFD513", Severity.WARNING)
def keras3_tf_keras_missing(
    tensorflow: TensorFlow, distributions: Distributions, tables: Tables, interpreter: Optional[Interpreter]
) -> Found:
    """A package here needs Keras 2, this TensorFlow brings Keras 3, and tf-keras does not fill the gap.

    ## What it is
    From 2.16 on `tf.keras` is Keras 3. Packages written for Keras 2 (TensorFlow Probability, GPflow, the TensorFlow classes of
    Transformers) need the distribution `tf-keras`, which is Keras 2 under a name of its own. It must have TensorFlow's
    minor version, and pip does not install it by itself for most of them.

    ## How it shows
    - `ModuleNotFoundError: No module named 'tf_keras'`
    - `Your currently installed version of Keras is Keras 3, but this is not yet supported in Transformers.`
    - TensorFlow Probability: an error at import that asks for `tf-keras`

    ## How to be sure
    `python -m pip show tf-keras tensorflow`: absent, or another minor version.

    ## What to do
    - All systems: `python -m pip install 'tf-keras==2.N.*'` with TensorFlow's minor version N.
    - Code of your own that uses `tf.keras` the old way: also `TF_USE_LEGACY_KERAS=1` before TensorFlow is imported.
    - A program that uses only PyTorch of Transformers: `USE_TF=0`, or an environment without TensorFlow.
    - Docker, Kubernetes, Slurm: in the image or environment file.

    ## References
    - https://github.com/huggingface/transformers/issues/36410
    - https://keras.io/getting_started/#tensorflow--keras-2-backwards-compatibility
    """
    release = parsed(tensorflow.version)
    if release is None or release.release < (2, 16) or release.is_devrelease:
        return None
    need = f"{release.major}.{release.minor}"
    have = distributions.version("tf-keras")
    if have:
        return _other_minor(tensorflow, distributions, need, interpreter)
    users = [name for name in sorted(distributions.by_name) if _wants(name, distributions.version(name), tables)]
    if not users:
        return None
    return Diagnosis(
        _("{users} needs Keras 2, TensorFlow {version} brings Keras 3, and tf-keras {need} is not installed.").format(
            users=", ".join(users), version=tensorflow.version, need=need
        ),
        evidence=tuple(Evidence(f"{name} {distributions.version(name)}", distributions.source) for name in users),
        fixes=(remedies.install(interpreter, f"tf-keras=={need}.*"),),
    )


def _other_minor(
    tensorflow: TensorFlow, distributions: Distributions, need: str, interpreter: Optional[Interpreter]
) -> Optional[Diagnosis]:
    have = parsed(distributions.version("tf-keras"))
    if have is None or f"{have.major}.{have.minor}" == need:
        return None
    return Diagnosis(
        _("tf-keras {have} does not go with TensorFlow {version}; it takes tf-keras {need}.").format(
            have=distributions.version("tf-keras"), version=tensorflow.version, need=need
        ),
        evidence=(Evidence(f"tf-keras {have}", distributions.source),),
        fixes=(remedies.install(interpreter, f"tf-keras=={need}.*"),),
    )


def _wants(name: str, version: str, tables: Tables) -> bool:
    """Whether this package needs Keras 2: by the list above, or by its own metadata."""
    if name in _WANT_KERAS2:
        return fits(version, _WANT_KERAS2[name]) if _WANT_KERAS2[name] else True
    row = tables.companion(name, version)
    return row is not None and "tf-keras" in row.also_needs
