"""TFD003 prediction-contradicted: the run and the rules disagree."""

from __future__ import annotations

import facts
import pytest
import smoke_results as s

from tfdoctor.probes.smoke import Prediction
from tfdoctor.rules.itself.tfd003_prediction_contradicted import prediction_contradicted as rule


def test_yes_and_no_gpu() -> None:
    said = facts.found(rule, Prediction("yes", None), s.smoke(s.listed(0)))
    assert "said yes and TensorFlow lists 0 GPUs" in said.message


def test_no_and_a_gpu() -> None:
    assert "said no" in facts.found(rule, Prediction("no", "driver-too-old"), s.smoke(s.listed(1))).message


@pytest.mark.parametrize("state", ["failed", "crashed", "hung"])
def test_yes_and_no_start(state: str) -> None:
    assert state in facts.found(rule, Prediction("yes", None), s.smoke(s.listed(0, state))).message
    assert facts.silent(rule, Prediction("no", None), s.smoke(s.listed(0, state)))


@pytest.mark.parametrize(("said", "count"), [("yes", 1), ("no", 0), ("unknown", 0), ("unknown", 2)])
def test_they_agree_or_nothing_was_claimed(said: str, count: int) -> None:
    assert facts.silent(rule, Prediction(said, None), s.smoke(s.listed(count)))


def test_it_did_not_run() -> None:
    assert facts.silent(rule, Prediction("yes", None), s.smoke())
    assert facts.silent(rule, Prediction("yes", None), s.smoke(s.listed(0, "not-run")))
    assert facts.silent(rule, Prediction("yes", None), s.smoke(s.listed(0, "out-of-memory")))
