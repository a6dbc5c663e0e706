"""TFD502 tensorflow-not-installed: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.tensorflow.tfd502_tensorflow_not_installed import tensorflow_not_installed as rule

NONE = facts.tensorflow_packages(installed=(), folder="")


def test_none() -> None:
    found = facts.found(rule, NONE, facts.interpreter(), facts.platform(), facts.gpu_machine())
    assert "/home/me/venv/bin/python" in found.message
    assert found.fixes[0].requirements == ("tensorflow[and-cuda]",)


def test_another_python_has_one() -> None:
    other = facts.interpreter(others=(("/usr/bin/python3", "2.15.0"),))
    found = facts.found(rule, NONE, other)
    assert "/usr/bin/python3" in found.message and "2.15.0" in found.message
    assert len(found.fixes) == 2


def test_without_a_gpu_or_where_there_is_no_cuda_the_plain_package() -> None:
    assert facts.found(rule, NONE, facts.platform()).fixes[0].requirements == ("tensorflow",)
    assert facts.found(rule, NONE, facts.windows(), facts.gpu_machine()).fixes[0].requirements == ("tensorflow",)


def test_healthy() -> None:
    assert facts.silent(rule, facts.tensorflow_packages())


def test_what_is_left_of_one_is_another_fault() -> None:
    assert facts.silent(rule, facts.tensorflow_packages(installed=()))
