"""TFD504 tensorflow-files-damaged: sick, healthy, and at the boundary."""

from __future__ import annotations

from typing import Any

import facts

from tfdoctor.model import Safety, Severity
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.rules.tensorflow.tfd504_tensorflow_files_damaged import tensorflow_files_damaged as rule


def _with(name: str = "tensorflow", **changes: Any) -> Distributions:
    return facts.distributions({}, facts.distribution(name, "2.20.0", **changes))


def test_code_is_missing() -> None:
    hurt = _with(damage=("tensorflow/python/__init__.py",), damaged=1, gone=1)
    found = facts.found(rule, facts.tensorflow_packages(), hurt, facts.interpreter())
    assert (
        "1 file of" in found.message and "missing" in found.message and "tensorflow/python/__init__.py" in found.message
    )
    assert found.severity is None
    assert found.fixes[0].commands[0][-1] == "tensorflow==2.20.0" and "--no-deps" in found.fixes[0].commands[0]


def test_the_core_is_missing() -> None:
    hurt = _with(damage=("tensorflow/libtensorflow_cc.so.2",), damaged=1, gone=1)
    assert facts.found(rule, facts.tensorflow_packages(), hurt).severity is None


def test_more_are_missing_than_are_named() -> None:
    hurt = _with(damage=("tensorflow/LICENSE",), damaged=4001, gone=4000)
    assert facts.found(rule, facts.tensorflow_packages(), hurt).severity is None


def test_what_is_only_changed_may_be_a_patch() -> None:
    hurt = _with(damage=("tensorflow/LICENSE", "tensorflow/__init__.py"), damaged=2, gone=1)
    assert facts.found(rule, facts.tensorflow_packages(), hurt).severity is Severity.WARNING
    patched = _with(damage=("tensorflow/__init__.py",), damaged=1, gone=0)
    found = facts.found(rule, facts.tensorflow_packages(), patched, facts.interpreter())
    assert found.severity is Severity.WARNING and "not the one that was installed" in found.message
    assert found.fixes[0].safety is Safety.ASK and "on purpose" in found.fixes[0].note


def test_an_older_recording_does_not_tell_missing_from_changed() -> None:
    hurt = _with(damage=("tensorflow/__init__.py",), damaged=1)
    found = facts.found(rule, facts.tensorflow_packages(), hurt)
    assert found.severity is Severity.WARNING and "missing or changed" in found.message


def test_nothing_that_is_loaded() -> None:
    hurt = _with(damage=("tensorflow/LICENSE",), damaged=1, gone=1)
    assert facts.found(rule, facts.tensorflow_packages(), hurt).severity is Severity.INFO


def test_healthy() -> None:
    assert facts.silent(rule, facts.tensorflow_packages(), facts.distributions())


def test_another_distribution_is_not_meant() -> None:
    assert facts.silent(rule, facts.tensorflow_packages(), _with("keras", damage=("keras/x.py",), damaged=1))
