"""TFD406 musl-no-wheels: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.python.tfd406_musl_no_wheels import musl_no_wheels as rule

ALPINE = facts.platform(distro="alpine", distro_like=(), libc="musl", libc_version="1.2.5")
NONE = facts.tensorflow_packages(installed=(), folder="")


def test_alpine() -> None:
    found = facts.found(rule, ALPINE, NONE)
    assert "alpine" in found.message and "musl 1.2.5" in found.message and "glibc" in found.message


def test_healthy() -> None:
    assert facts.silent(rule, facts.platform(), NONE)


def test_a_tensorflow_that_is_there_all_the_same() -> None:
    assert facts.silent(rule, ALPINE, facts.tensorflow_packages())
