"""TFD510 protobuf-too-new: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.model import Severity
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.rules.tensorflow.tfd510_protobuf_too_new import protobuf_too_new as rule


def _protobuf(version: str, tensorflow: str) -> Distributions:
    return facts.distributions({"protobuf": version, "tensorflow": tensorflow}, source="pip freeze")


@pytest.mark.parametrize(("tensorflow", "protobuf"), [("2.8.0", "4.21.1"), ("2.11.1", "6.32.0"), ("2.6.0", "4.0.0")])
def test_too_new(tensorflow: str, protobuf: str) -> None:
    found = facts.found(rule, facts.tensorflow_release(tensorflow), _protobuf(protobuf, tensorflow))
    assert protobuf in found.message and tensorflow in found.message and "<3.21" in found.message
    assert found.severity is None and found.fixes[0].requirements == ("protobuf<3.21",)


@pytest.mark.parametrize(
    ("tensorflow", "protobuf"), [("2.10.1", "3.20.3"), ("2.10.1", "3.19.6"), ("2.12.0", "4.23.0"), ("2.17.0", "5.29.0")]
)
def test_healthy(tensorflow: str, protobuf: str) -> None:
    assert facts.silent(rule, facts.tensorflow_release(tensorflow), _protobuf(protobuf, tensorflow))


def test_the_slow_parser_works() -> None:
    python = facts.environment(PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION="python")
    found = facts.found(rule, facts.tensorflow_release("2.8.0"), _protobuf("4.21.1", "2.8.0"), python)
    assert found.severity is Severity.INFO
