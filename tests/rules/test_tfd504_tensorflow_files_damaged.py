"""TFD504 tensorflow-files-damaged: sick, healthy, and at the boundary."""

from __future__ import annotations

from typing import Any

import facts

from tfdoctor.model import Severity
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.rules.tensorflow.tfd504_tensorflow_files_damaged import tensorflow_files_damaged as rule


def _with(name: str = "tensorflow", **changes: Any) -> Distributions:
    return facts.distributions({}, facts.distribution(name, "2.20.0", **changes))


def test_code_is_missing() -> None:
    hurt = _with(damage=("tensorflow/python/__init__.py",), damaged=1)
    found = facts.found(rule, facts.tensorflow_packages(), hurt, facts.interpreter())
    assert "1 files" in found.message and "tensorflow/python/__init__.py" in found.message and found.severity is None
    assert found.fixes[0].commands[0][-1] == "tensorflow==2.20.0" and "--no-deps" in found.fixes[0].commands[0]


def test_more_than_are_named() -> None:
    hurt = _with(damage=("tensorflow/LICENSE",), damaged=4000)
    assert facts.found(rule, facts.tensorflow_packages(), hurt).severity is None


def test_nothing_that_is_loaded() -> None:
    hurt = _with(damage=("tensorflow/LICENSE",), damaged=1)
    assert facts.found(rule, facts.tensorflow_packages(), hurt).severity is Severity.INFO


def test_healthy() -> None:
    assert facts.silent(rule, facts.tensorflow_packages(), facts.distributions())


def test_another_distribution_is_not_meant() -> None:
    assert facts.silent(rule, facts.tensorflow_packages(), _with("keras", damage=("keras/x.py",), damaged=1))
