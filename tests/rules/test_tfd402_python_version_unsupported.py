"""TFD402 python-version-unsupported: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.rules.python._wheels import newest_for, tag
from tfdoctor.rules.python.tfd402_python_version_unsupported import python_version_unsupported as rule
from tfdoctor.rules.tensorflow.tfd502_tensorflow_not_installed import tensorflow_not_installed

NONE = facts.tensorflow_packages(installed=(), folder="")


@pytest.mark.parametrize("version", ["3.15.0", "3.4.10"])
def test_no_release_has_a_wheel(version: str) -> None:
    found = facts.found(rule, facts.interpreter(version=version), NONE, facts.platform())
    assert version in found.message and "3.13" in found.message and "3.13" in found.fixes[0].title


@pytest.mark.parametrize("version", ["3.13.1", "3.8.10", "3.6.9"])
def test_some_release_has(version: str) -> None:
    assert facts.silent(rule, facts.interpreter(version=version), NONE, facts.platform())


def test_installed_is_installed() -> None:
    assert facts.silent(rule, facts.interpreter(version="3.15.0"), facts.tensorflow_packages(), facts.platform())


def test_is_the_root_of_not_installed() -> None:
    machine = facts.WORKSTATION.but(facts.interpreter(version="3.15.0"), NONE)
    assert machine.codes(rule, tensorflow_not_installed) == {"TFD402": None, "TFD502": "TFD402"}


def test_another_implementation_or_platform_is_not_judged() -> None:
    assert facts.silent(rule, facts.interpreter(version="3.15.0", implementation="PyPy"), NONE, facts.platform())
    assert facts.silent(rule, facts.interpreter(version="3.15.0"), NONE, facts.platform(machine="riscv64"))


def test_wheels_by_python() -> None:
    assert tag("3.11.9") == "cp311" and tag("x") == ""
    newest = newest_for("cp38", facts.tables(), facts.platform())
    assert newest is not None and newest.version == "2.13.1"
