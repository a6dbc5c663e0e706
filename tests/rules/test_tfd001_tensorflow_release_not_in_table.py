"""TFD001 tensorflow-release-not-in-table: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.itself.tfd001_tensorflow_release_not_in_table import tensorflow_release_not_in_table as rule


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.tensorflow(version="9.9.0", in_table=False))
    assert "9.9.0" in diagnosis.message and "2.21.0" in diagnosis.message
    assert diagnosis.fixes


def test_healthy() -> None:
    assert facts.silent(rule, facts.tensorflow())


def test_vendor_build_of_a_known_release_needs_no_newer_tfdoctor() -> None:
    diagnosis = facts.found(rule, facts.tensorflow(version="2.15.0+nv24.1", in_table=False))
    assert "2.15.0+nv24.1" in diagnosis.message
    assert not diagnosis.fixes
