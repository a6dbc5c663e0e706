"""TFD501 tensorflow-shadowed-by-local-file: sick and healthy."""

from __future__ import annotations

import facts

from tfdoctor.model import Safety
from tfdoctor.rules.tensorflow.tfd501_tensorflow_shadowed_by_local_file import tensorflow_shadowed_by_local_file as rule


def test_a_file_of_that_name() -> None:
    found = facts.found(rule, facts.tensorflow_packages(shadow="/home/me/project/tensorflow.py"))
    assert "/home/me/project/tensorflow.py" in found.message
    assert found.fixes[0].safety is Safety.MANUAL


def test_healthy() -> None:
    assert facts.silent(rule, facts.tensorflow_packages())
