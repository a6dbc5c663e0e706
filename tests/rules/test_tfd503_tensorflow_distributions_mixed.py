"""TFD503 tensorflow-distributions-mixed: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Safety, Severity
from tfdoctor.probes.tensorflow import TensorFlowPackages
from tfdoctor.rules.tensorflow.tfd503_tensorflow_distributions_mixed import tensorflow_distributions_mixed as rule


def _have(**versions: str) -> TensorFlowPackages:
    return facts.tensorflow_packages(installed=tuple((name.replace("_", "-"), v) for name, v in versions.items()))


def test_two_versions() -> None:
    found = facts.found(rule, _have(tensorflow="2.20.0", tensorflow_cpu="2.18.0"), facts.interpreter())
    assert "tensorflow 2.20.0" in found.message and "tensorflow-cpu 2.18.0" in found.message and found.severity is None
    fix = found.fixes[0]
    assert fix.safety is Safety.MANUAL and fix.removes == ("tensorflow", "tensorflow-cpu")
    assert fix.commands[1][-1] == "tensorflow==2.20.0"


def test_one_version_twice_is_open() -> None:
    found = facts.found(rule, _have(tensorflow="2.20.0", tensorflow_cpu="2.20.0"))
    assert found.severity is Severity.WARNING


def test_a_folder_without_an_owner() -> None:
    found = facts.found(rule, facts.tensorflow_packages(installed=()))
    assert f"{facts.SITE}/tensorflow" in found.message and found.severity is None


def test_a_whole_tensorflow_that_nobody_owns_may_work() -> None:
    found = facts.found(rule, facts.tensorflow_packages(installed=(), core=True))
    assert "whole is open" in found.message and found.severity is Severity.WARNING


def test_healthy() -> None:
    assert facts.silent(rule, facts.tensorflow_packages())
    assert facts.silent(rule, facts.tensorflow_packages(installed=(), folder=""))


def test_one_that_only_forwards_to_the_other() -> None:
    assert facts.silent(rule, _have(tensorflow="2.15.0", tensorflow_intel="2.15.0"))
    assert facts.silent(rule, _have(tensorflow="2.12.0", tensorflow_cpu_aws="2.12.0"))
