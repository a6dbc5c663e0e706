"""TFD517 tensorflow-metal-mismatch."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, NotApplicable, Severity
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._requirements import between, parsed
from tfdoctor.tables import Tables, fits
from tfdoctor.tables.tf_rows import Plugin


@rule("TFD517", Severity.ERROR)
def tensorflow_metal_mismatch(
    platform: Platform,
    tensorflow: TensorFlow,
    distributions: Distributions,
    tables: Tables,
    interpreter: Optional[Interpreter],
) -> Found:
    """tensorflow-metal was made for another TensorFlow, or for a newer macOS.

    ## What it is
    `tensorflow-metal` is Apple's plug-in that gives TensorFlow the GPU of a Mac. It is a library that uses TensorFlow's plug-in
    interface and symbols of macOS. Its wheels do not name TensorFlow in their metadata, so pip accepts every pair, and a
    wrong one fails when TensorFlow is imported. From TensorFlow 2.13 on the distribution on Apple silicon is `tensorflow`;
    `tensorflow-macos` beside it owns the same files.

    ## How it shows
    - `NotFoundError: dlopen(…/libmetal_plugin.dylib, 6): Symbol not found: …`, at `import tensorflow`
    - `(which was built for Mac OS X 12.0)`: the plug-in is newer than the system

    ## How to be sure
    `python -m pip list | grep tensorflow` and `sw_vers`, against the pairs that Apple states.

    ## What to do
    - macOS: the release of `tensorflow-metal` that goes with this TensorFlow, or a TensorFlow that goes with it.
    - macOS too old for the plug-in: update macOS, or remove `tensorflow-metal`; TensorFlow then works on the CPU.
    - `tensorflow` and `tensorflow-macos` both there: uninstall both, install one.
    - Linux, Windows, WSL2, Docker (no GPU in containers on a Mac), Kubernetes, Slurm: does not arise.

    ## References
    - https://developer.apple.com/metal/tensorflow-plugin/
    - https://github.com/tensorflow/tensorflow/issues/53309
    """
    if platform.system != "darwin":
        raise NotApplicable(_("this is not macOS"))
    version = distributions.version("tensorflow-metal")
    row = _row(version, tables)
    release = parsed(tensorflow.version)
    if row is None or release is None or release.is_devrelease or fits(tensorflow.version, row.tensorflow):
        return None
    return Diagnosis(
        _("tensorflow-metal {have} goes with TensorFlow {need}, and {version} is installed.").format(
            have=version, need=row.tensorflow, version=tensorflow.version
        ),
        evidence=(
            Evidence(f"tensorflow-metal {version}", distributions.source),
            Evidence(_("goes with TensorFlow {range}").format(range=row.tensorflow), row.source),
        ),
        fixes=(_fix(tensorflow, tables, interpreter),),
        severity=None if row.solid else Severity.WARNING,
    )


def _row(version: str, tables: Tables) -> Optional[Plugin]:
    return next(
        (row for row in tables.plugins("tensorflow-metal") if version and parsed(row.version) == parsed(version)), None
    )


def _fix(tensorflow: TensorFlow, tables: Tables, interpreter: Optional[Interpreter]) -> Fix:
    good = next((row for row in tables.plugins("tensorflow-metal") if fits(tensorflow.version, row.tensorflow)), None)
    if good is not None:
        return remedies.install(interpreter, f"tensorflow-metal=={good.version}")
    newer = not between(tensorflow.version, "2.0", "2.19")
    title = _("Use a TensorFlow that tensorflow-metal goes with, or remove tensorflow-metal")
    return remedies.install(interpreter, "tensorflow<2.19") if newer else remedies.by_hand(title)
