"""TFD405 pip-too-old: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.model import Severity
from tfdoctor.rules.python.tfd405_pip_too_old import pip_too_old as rule

NONE = facts.tensorflow_packages(installed=(), folder="")


@pytest.mark.parametrize(
    ("pip", "severity"), [("9.0.1", Severity.ERROR), ("19.0", None), ("19.3.1", None), ("20.2.4", None)]
)
def test_too_old(pip: str, severity: Severity) -> None:
    found = facts.found(rule, facts.interpreter(pip=pip), NONE, facts.platform())
    assert pip in found.message and "20.3" in found.message and found.severity is severity
    assert found.fixes[0].requirements == ("pip>=20.3",)


def test_healthy() -> None:
    assert facts.silent(rule, facts.interpreter(pip="20.3"), NONE, facts.platform())


@pytest.mark.parametrize("pip", ["", None, "from source"])
def test_unknown_says_nothing(pip: str) -> None:
    assert facts.silent(rule, facts.interpreter(pip=pip), NONE, facts.platform())


def test_rests_where_it_does_not_matter() -> None:
    assert facts.silent(rule, facts.interpreter(pip="9.0.1"), facts.tensorflow_packages(), facts.platform())
    assert facts.silent(rule, facts.interpreter(pip="9.0.1"), NONE, facts.windows())
