"""TFD525 protobuf-too-old: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.probes.interpreter import Distributions
from tfdoctor.rules.tensorflow.tfd525_protobuf_too_old import protobuf_too_old as rule


def _protobuf(version: str, tensorflow: str) -> Distributions:
    return facts.distributions({"protobuf": version, "tensorflow": tensorflow}, source="pip freeze")


def test_older_than_the_generated_code() -> None:
    found = facts.found(rule, facts.tensorflow_release("2.21.0"), _protobuf("5.29.5", "2.21.0"))
    assert "5.29.5" in found.message and "2.21.0" in found.message and "6.31.1" in found.message
    assert found.fixes[0].requirements == ("protobuf<8.0.0,>=6.31.1",)


@pytest.mark.parametrize(("tensorflow", "protobuf"), [("2.21.0", "6.31.0"), ("2.20.0", "5.27.0"), ("2.20.0", "4.25.3")])
def test_just_too_old(tensorflow: str, protobuf: str) -> None:
    assert facts.found(rule, facts.tensorflow_release(tensorflow), _protobuf(protobuf, tensorflow))


@pytest.mark.parametrize(
    ("tensorflow", "protobuf"), [("2.21.0", "6.31.1"), ("2.20.0", "5.28.3"), ("2.19.0", "3.20.3"), ("2.21.0", "8.1.0")]
)
def test_healthy(tensorflow: str, protobuf: str) -> None:
    assert facts.silent(rule, facts.tensorflow_release(tensorflow), _protobuf(protobuf, tensorflow))
