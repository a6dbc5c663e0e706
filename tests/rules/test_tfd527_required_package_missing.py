"""TFD527 required-package-missing: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.probes.imports import Imports
from tfdoctor.rules.tensorflow.tfd527_required_package_missing import required_package_missing as rule


def test_a_folder_that_is_gone_while_its_metadata_remains() -> None:
    torn = facts.distribution("numpy", "2.3.2", damage=("numpy/__init__.py",), damaged=257, gone=257, checked=257)
    found = facts.found(rule, facts.tensorflow(), facts.distributions({}, torn), facts.imports("numpy"))
    assert found.severity is None
    assert "finds no numpy" in found.message
    assert found.fixes[0].requirements == ("numpy==2.3.2",)


def test_a_distribution_that_is_not_there_at_all() -> None:
    own = facts.distribution("tensorflow", "2.20.0", requires=("numpy>=1.26.0", "six>=1.12.0"))
    none = facts.distributions({"numpy": None}, own)
    found = facts.found(rule, facts.tensorflow(), none, facts.imports("numpy"))
    assert found.severity is None
    assert found.fixes[0].requirements == ("numpy>=1.26.0",)


def test_an_import_hook_may_find_what_no_folder_holds() -> None:
    """Installed in editable form: RECORD names no file of the package."""
    found = facts.found(rule, facts.tensorflow(), facts.distributions(), facts.imports("numpy"))
    assert found.severity is Severity.WARNING


def test_only_some_files_are_missing() -> None:
    torn = facts.distribution("protobuf", "6.32.0", damage=("google/protobuf/message.py",), damaged=1, gone=1)
    found = facts.found(rule, facts.tensorflow(), facts.distributions({}, torn), facts.imports())
    assert found.severity is Severity.WARNING
    assert "1 file of protobuf 6.32.0" in found.message and "google/protobuf/message.py" in found.message
    assert found.fixes[0].requirements == ("protobuf==6.32.0",)


def test_a_bare_folder_serves_where_only_the_name_is_imported() -> None:
    def imports(name: str) -> Imports:
        found = facts.imports().found
        return Imports({**found, name: f"{found[name]}/"}, "python")

    torn = facts.distribution("numpy", "2.3.2", damage=("numpy/__init__.py",), damaged=257, gone=257)
    packages = facts.distributions({}, torn)
    assert facts.found(rule, facts.tensorflow(), packages, imports("numpy")).severity is None
    assert facts.silent(rule, facts.tensorflow(), facts.distributions(), imports("termcolor"))


def test_what_is_not_imported_at_once_is_not_meant() -> None:
    torn = facts.distribution("keras", "3.11.3", damage=("keras/__init__.py",), damaged=900, gone=900)
    assert facts.silent(rule, facts.tensorflow(), facts.distributions({}, torn), facts.imports())


def test_packages_of_another_python() -> None:
    """PYTHONPATH names the site-packages of another one."""
    other = facts.distribution(
        "numpy", "2.3.2", foreign="numpy/_core/_multiarray_umath.cpython-310-x86_64-linux-gnu.so"
    )
    found = facts.found(
        rule, facts.tensorflow(), facts.distributions({}, other), facts.imports(), facts.interpreter(version="3.11.9")
    )
    assert found.severity is None
    assert "numpy" in found.message and "another Python than 3.11.9" in found.message
    spare = facts.distribution("wrapt", "1.17.3", foreign="wrapt/_wrappers.cpython-310-x86_64-linux-gnu.so")
    assert facts.silent(rule, facts.tensorflow(), facts.distributions({}, spare), facts.imports())


def test_an_older_release_imports_fewer() -> None:
    older = facts.tensorflow(version="2.15.1")
    assert facts.silent(rule, older, facts.distributions(), facts.imports("packaging"))
    assert facts.found(rule, facts.tensorflow(), facts.distributions(), facts.imports("packaging"))


def test_healthy() -> None:
    assert facts.silent(rule, facts.tensorflow(), facts.distributions(), facts.imports())


def test_a_recording_that_does_not_tell() -> None:
    assert facts.silent(rule, facts.tensorflow(), facts.distributions())
