"""TFD512 keras-tf-version-mismatch: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.model import Severity
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.rules.tensorflow.tfd512_keras_tf_version_mismatch import keras_tf_version_mismatch as rule


def _keras(version: str, tensorflow: str) -> Distributions:
    return facts.distributions({"keras": version, "tensorflow": tensorflow}, source="pip freeze")


def test_another_minor_version() -> None:
    found = facts.found(rule, facts.tensorflow_release("2.8.0"), _keras("2.9.0", "2.8.0"))
    assert "2.9.0" in found.message and "2.8.0" in found.message and found.severity is None
    assert found.fixes[0].requirements[0].startswith("keras")


def test_keras_2_with_a_tensorflow_of_keras_3() -> None:
    assert facts.found(rule, facts.tensorflow_release("2.18.0"), _keras("2.15.0", "2.18.0")).severity is None


def test_a_keras_3_that_is_a_little_old() -> None:
    found = facts.found(rule, facts.tensorflow_release("2.18.0"), _keras("3.3.0", "2.18.0"))
    assert found.severity is Severity.WARNING


@pytest.mark.parametrize(("tensorflow", "keras"), [("2.8.0", "2.8.0"), ("2.13.0", "2.13.1"), ("2.20.0", "3.12.0")])
def test_healthy(tensorflow: str, keras: str) -> None:
    assert facts.silent(rule, facts.tensorflow_release(tensorflow), _keras(keras, tensorflow))


def test_keras_3_with_an_old_one_is_another_fault() -> None:
    assert facts.silent(rule, facts.tensorflow_release("2.15.0"), _keras("3.0.0", "2.15.0"))


def test_the_installed_metadata_counts_before_the_table() -> None:
    own = facts.distribution("tensorflow", "2.20.0", requires=("keras>=3.99",))
    found = facts.found(rule, facts.tensorflow(), facts.distributions({"keras": "3.11.3"}, own))
    assert ">=3.99" in found.message
