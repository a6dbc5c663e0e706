"""TFD511 keras3-with-old-tf: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.rules.tensorflow.tfd511_keras3_with_old_tf import keras3_with_old_tf as rule


def test_keras_3_with_2_15() -> None:
    given = facts.distributions({"keras": "3.3.3", "tensorflow": "2.15.0"}, source="pip freeze")
    found = facts.found(rule, facts.tensorflow_release("2.15.0"), given)
    assert "3.3.3" in found.message and "2.15.0" in found.message
    assert found.fixes[0].requirements == ("keras==2.15.*",)


@pytest.mark.parametrize(("tensorflow", "keras"), [("2.15.0", "2.15.0"), ("2.16.1", "3.3.3"), ("2.5.3", "3.3.3")])
def test_healthy(tensorflow: str, keras: str) -> None:
    given = facts.distributions({"keras": keras, "tensorflow": tensorflow})
    assert facts.silent(rule, facts.tensorflow_release(tensorflow), given)


def test_no_keras_at_all() -> None:
    assert facts.silent(rule, facts.tensorflow_release("2.15.0"), facts.distributions({"keras": None}))
