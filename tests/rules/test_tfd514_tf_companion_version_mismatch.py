"""TFD514 tf-companion-version-mismatch: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.probes.interpreter import Distributions
from tfdoctor.rules.tensorflow.tfd514_tf_companion_version_mismatch import tf_companion_version_mismatch as rule


def _have(**versions: str) -> Distributions:
    return facts.distributions(
        {name.replace("_", "-"): version for name, version in versions.items()}, source="pip freeze"
    )


def test_text_for_another_release() -> None:
    found = facts.found(rule, facts.tensorflow(), _have(tensorflow_text="2.18.0"))
    assert "tensorflow-text 2.18.0" in found.message and "2.20.0" in found.message
    assert found.fixes[0].requirements == ("tensorflow-text==2.20.1",)


def test_one_that_has_ended() -> None:
    found = facts.found(rule, facts.tensorflow(), _have(tensorflow_addons="0.23.0"))
    assert "<2.16" in found.message and found.fixes[0].commands == ()


def test_probability_that_is_too_new() -> None:
    tf = facts.tensorflow_release("2.10.1")
    others = {
        name.replace("-", "_"): None for name in ("numpy", "protobuf", "h5py", "gast", "tensorboard", "ml-dtypes")
    }
    found = facts.found(rule, tf, _have(tensorflow="2.10.1", tensorflow_probability="0.20.0", **others))  # type: ignore[arg-type]
    assert "tensorflow-probability 0.20.0" in found.message and "2.10.1" in found.message


def test_what_tensorflow_itself_asks_for() -> None:
    own = facts.distribution("tensorflow", "2.20.0", requires=("ml-dtypes<1.0.0,>=0.5.1", "numpy>=1.26.0"))
    outcome = facts.run(rule, facts.tensorflow(), facts.distributions({"ml-dtypes": "0.3.2", "numpy": "1.24.0"}, own))
    messages = " ".join(diagnosis.message for diagnosis in outcome.diagnoses)
    assert "ml-dtypes 0.3.2" in messages and "numpy 1.24.0" in messages and len(outcome.diagnoses) == 2


def test_healthy() -> None:
    assert facts.silent(rule, facts.tensorflow(), facts.distributions())
    assert facts.silent(rule, facts.tensorflow(), _have(tensorflow_text="2.20.0", tensorflow_hub="0.16.1"))


def test_faults_with_a_rule_of_their_own() -> None:
    tf = facts.tensorflow_release("2.15.1")
    frozen = _have(
        numpy="2.0.0", h5py="3.11.0", gast="0.5.4", ml_dtypes="0.3.2", tensorboard="2.15.1", protobuf="4.25.0"
    )
    assert facts.silent(rule, tf, frozen)


def test_a_nightly_is_between_releases() -> None:
    assert facts.silent(rule, facts.tensorflow(version="2.22.0.dev20260101"), _have(tensorflow_text="2.18.0"))
