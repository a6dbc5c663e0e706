"""TFD529 module-shadowed-by-local-file: sick, healthy, and at the boundary."""

from __future__ import annotations

from dataclasses import replace

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.tensorflow.tfd529_module_shadowed_by_local_file import module_shadowed_by_local_file as rule

HOME = "/home/me/project"
PYTHON = facts.interpreter(search_path=(HOME, "/usr/lib/python3.11", facts.SITE))


def test_a_module_of_the_standard_library() -> None:
    imports = replace(facts.imports(), shadows=(f"{HOME}/random.py",))
    found = facts.found(rule, facts.tensorflow_packages(), imports, PYTHON, facts.distributions())
    assert f"{HOME}/random.py hides" in found.message
    assert found.severity is Severity.WARNING


def test_a_package_that_is_installed_behind_it() -> None:
    whole = facts.imports()
    imports = replace(whole, found={**whole.found, "numpy": f"{HOME}/numpy.py"})
    found = facts.found(rule, facts.tensorflow_packages(), imports, PYTHON, facts.distributions())
    assert f"{HOME}/numpy.py" in found.message


def test_one_that_the_path_brings_later() -> None:
    """An editable installation: its folder comes after site-packages."""
    python = facts.interpreter(search_path=("/usr/lib/python3.11", facts.SITE, "/home/me/numpy"))
    whole = facts.imports()
    imports = replace(whole, found={**whole.found, "numpy": "/home/me/numpy/numpy"})
    assert facts.silent(rule, facts.tensorflow_packages(), imports, python, facts.distributions())


def test_healthy() -> None:
    given = (facts.tensorflow_packages(), PYTHON, facts.distributions())
    assert facts.silent(rule, *given, facts.imports())
    assert facts.silent(rule, *given)
