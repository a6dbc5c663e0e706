"""TFD513 keras3-tf-keras-missing: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.probes.interpreter import Distributions
from tfdoctor.rules.tensorflow.tfd513_keras3_tf_keras_missing import keras3_tf_keras_missing as rule

TF = facts.tensorflow_release("2.18.0")


def _have(**versions: str) -> Distributions:
    return facts.distributions({name.replace("_", "-"): version for name, version in versions.items()})


def test_transformers_without_it() -> None:
    found = facts.found(rule, TF, _have(transformers="4.48.0"))
    assert "transformers" in found.message and "2.18.0" in found.message
    assert found.fixes[0].requirements == ("tf-keras==2.18.*",)


def test_probability_without_it() -> None:
    assert "tensorflow-probability" in facts.found(rule, TF, _have(tensorflow_probability="0.25.0")).message


def test_of_another_minor_version() -> None:
    found = facts.found(rule, TF, _have(tf_keras="2.16.0"))
    assert "2.16.0" in found.message and "2.18" in found.message


def test_healthy() -> None:
    assert facts.silent(rule, TF, _have())
    assert facts.silent(rule, TF, _have(transformers="4.48.0", tf_keras="2.18.0"))
    assert facts.silent(rule, TF, _have(transformers="5.0.0"))


def test_before_2_16_keras_2_is_there_anyway() -> None:
    assert facts.silent(rule, facts.tensorflow_release("2.15.1"), _have(transformers="4.48.0"))
