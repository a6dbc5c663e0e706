"""TFD509 numpy-abi-mismatch: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.model import Severity
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.rules.tensorflow.tfd509_numpy_abi_mismatch import numpy_abi_mismatch as rule


def _numpy(version: str, tensorflow: str = "2.15.1") -> Distributions:
    return facts.distributions({"numpy": version, "tensorflow": tensorflow}, source="pip freeze")


def test_numpy_2_for_a_build_for_1() -> None:
    found = facts.found(rule, facts.tensorflow_release("2.15.1"), _numpy("2.1.3"))
    assert "2.15.1" in found.message and "2.1.3" in found.message and found.severity is None
    assert found.fixes[0].requirements == ("numpy<2",) and len(found.fixes) == 1


def test_the_metadata_need_not_forbid_it() -> None:
    assert facts.found(rule, facts.tensorflow_release("2.14.0"), _numpy("2.0.0", "2.14.0"))


def test_the_last_build_for_1_may_also_move_on() -> None:
    found = facts.found(rule, facts.tensorflow_release("2.17.1"), _numpy("2.0.0", "2.17.1"))
    assert found.fixes[1].requirements == ("tensorflow>=2.18",)


@pytest.mark.parametrize(
    ("tensorflow", "numpy"), [("2.18.0", "2.0.2"), ("2.18.0", "1.26.4"), ("2.17.1", "1.26.4"), ("2.21.0", "2.4.0")]
)
def test_healthy(tensorflow: str, numpy: str) -> None:
    assert facts.silent(rule, facts.tensorflow_release(tensorflow), _numpy(numpy, tensorflow))


def test_without_a_gpu_it_is_as_wrong() -> None:
    found = facts.CPU_ONLY.but(facts.tensorflow_release("2.15.1"), _numpy("2.0.0")).codes(rule)
    assert found == {"TFD509": None}


def test_a_build_of_somebody_else() -> None:
    vendor = facts.tensorflow(version="2.17.0+nv25.02")
    assert facts.found(rule, vendor, _numpy("2.0.0", "2.17.0+nv25.02")).severity is Severity.WARNING
    conda = facts.distributions({"numpy": "2.0.0"}, facts.distribution("tensorflow", "2.17.0", installer="conda"))
    assert facts.silent(rule, facts.tensorflow_release("2.17.0"), conda)


def test_unknown_says_nothing() -> None:
    assert facts.silent(rule, facts.tensorflow_release("2.15.1"))
    assert facts.silent(rule, facts.tensorflow_release("2.15.1"), facts.distributions({"numpy": None}))
    assert facts.silent(rule, facts.tensorflow(version="unknown"), _numpy("2.0.0"))
