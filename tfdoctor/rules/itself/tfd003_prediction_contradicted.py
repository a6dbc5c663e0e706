"""TFD003 prediction-contradicted."""

from __future__ import annotations

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.smoke import Prediction, SmokeResults


@rule("TFD003", Severity.WARNING)
def prediction_contradicted(predicted: Prediction, smoke: SmokeResults) -> Found:
    """TensorFlow did not do what tfdoctor's rules said it would.

    ## What it is
    `check` concludes from what it sees, without running TensorFlow; the smoke tests run it. When the two disagree the
    run is right, and a rule or a table of tfdoctor is wrong or lacks a case.

    ## How it shows
    `tfdoctor check --smoke` prints the verdict of the rules and of the run, and this diagnosis.

    ## How to be sure
    Run `python -c "import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))"` with the target interpreter.

    ## What to do
    - Believe the run.
    - Send the output of `tfdoctor record` to tfdoctor's authors: it becomes a test.

    ## References
    - https://www.tensorflow.org/guide/gpu
    """
    listed = smoke.get("devices")
    if listed is None or predicted.gpu == "unknown":
        return None
    if listed.state in ("failed", "crashed", "hung"):
        if predicted.gpu != "yes":
            return None
        message = _(
            "The rules said yes and TensorFlow {state} when it was asked for its devices: tfdoctor lacks a case."
        )
        return Diagnosis(message.format(state=listed.state), (Evidence(listed.detail, smoke.source),))
    count = int(listed.measured.get("gpus", 0))
    if listed.state not in ("passed", "wrong") or (predicted.gpu == "yes") == (count > 0):
        return None
    message = _("The rules said {predicted} and TensorFlow lists {count} GPUs: a rule or table of tfdoctor is wrong.")
    evidence = [Evidence(_("TensorFlow {v} lists {n} GPUs").format(v=listed.tensorflow, n=count), smoke.source)]
    evidence += [
        Evidence(_("with {what} it lists {n}").format(what=e.what, n=e.result.measured.get("gpus", 0)), smoke.source)
        for e in smoke.experiments
        if e.helped and e.test == "devices"
    ]
    return Diagnosis(message.format(predicted=predicted.gpu, count=count), tuple(evidence))
