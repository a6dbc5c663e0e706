"""TFD504 tensorflow-files-damaged: sick, healthy, and at the boundary."""

from __future__ import annotations

from typing import Any, Optional

import facts
import pytest

from tfdoctor.model import Safety, Severity
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.rules.tensorflow.tfd504_tensorflow_files_damaged import tensorflow_files_damaged as rule


def _with(name: str = "tensorflow", **changes: Any) -> Distributions:
    return facts.distributions({}, facts.distribution(name, "2.20.0", **changes))


def test_code_is_missing() -> None:
    path = "tensorflow/python/framework/ops.py"
    hurt = _with(damage=(path,), damaged=1, gone=1)
    found = facts.found(rule, facts.tensorflow_packages(), hurt, facts.interpreter())
    assert "1 file of" in found.message and "missing" in found.message and path in found.message
    assert found.severity is None
    assert found.fixes[0].commands[0][-1] == "tensorflow==2.20.0" and "--no-deps" in found.fixes[0].commands[0]


def _effect(path: str, version: str = "2.21.0") -> tuple[Optional[Severity], Optional[bool]]:
    """What it means that this file alone is missing: (None, None) TensorFlow does not start."""
    hurt = facts.distribution("tensorflow", version, damage=(path,), damaged=1, gone=1, checked=2031)
    packages = facts.tensorflow_packages(installed=(("tensorflow", version),))
    found = facts.found(rule, packages, facts.distributions({}, hurt))
    return found.severity, found.blocks


@pytest.mark.parametrize(
    ("version", "path"),
    [
        ("2.21.0", "tensorflow/__init__.py"),
        ("2.21.0", "tensorflow/libtensorflow_cc.so.2"),
        ("2.21.0", "tensorflow/python/_pywrap_tfe.so"),
        ("2.19.1", "tensorflow/python/_pywrap_tensorflow_internal.so"),
        ("2.10.1", "tensorflow/python/_pywrap_tensorflow_internal.pyd"),
    ],
)
def test_one_file_without_which_an_import_fails(version: str, path: str) -> None:
    assert _effect(path, version) == (None, None)


@pytest.mark.parametrize(
    ("version", "path"),
    [
        ("2.20.0", "tensorflow/python/_pywrap_tensorflow_internal.so"),
        ("2.18.1", "tensorflow/python/_pywrap_tfcompile.so"),
        ("2.18.1", "tensorflow/core/kernels/libtfkernel_sobol_op.so"),
        ("2.21.0", "tensorflow/python/kernel_tests/random/util.py"),
        ("2.21.0", "tensorflow/python/tools/freeze_graph.py"),
    ],
)
def test_one_file_that_an_import_does_not_need(version: str, path: str) -> None:
    assert _effect(path, version) == (Severity.WARNING, False)


@pytest.mark.parametrize(
    "path", ["tensorflow/python/data/ops/zip_op.py", "tensorflow/lite/python/_pywrap_string_util.so"]
)
def test_one_file_of_which_that_is_not_known(path: str) -> None:
    assert _effect(path) == (Severity.WARNING, None)


def test_more_are_missing_than_an_import_leaves_aside() -> None:
    hurt = _with(damage=("tensorflow/LICENSE",), damaged=601, gone=600, checked=2031)
    assert facts.found(rule, facts.tensorflow_packages(), hurt).severity is None


def test_more_are_missing_than_are_named() -> None:
    hurt = _with(damage=("tensorflow/LICENSE",), damaged=101, gone=100, checked=2031)
    assert facts.found(rule, facts.tensorflow_packages(), hurt).severity is Severity.WARNING


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
