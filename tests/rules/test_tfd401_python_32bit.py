"""TFD401 python-32bit: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.python.tfd401_python_32bit import python_32bit as rule

NONE = facts.tensorflow_packages(installed=(), folder="")


def test_32_bits() -> None:
    found = facts.found(rule, facts.interpreter(bits=32, path="C:\\Python312-32\\python.exe"), NONE, facts.windows())
    assert "32-bit" in found.message and "C:\\Python312-32\\python.exe" in found.message and "64-bit" in found.message


def test_healthy() -> None:
    assert facts.silent(rule, facts.interpreter(), NONE)
    assert facts.silent(rule, facts.interpreter(bits=None), NONE)


def test_a_tensorflow_that_is_there_all_the_same() -> None:
    assert facts.silent(rule, facts.interpreter(bits=32), facts.tensorflow_packages())
