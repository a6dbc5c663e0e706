"""TFD407 glibc-too-old: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.rules.python.tfd407_glibc_too_old import glibc_too_old as rule


def test_2_21_on_an_old_system() -> None:
    old = facts.platform(distro="centos", libc_version="2.17")
    found = facts.found(rule, old, facts.tensorflow_release("2.21.0"), facts.interpreter())
    assert "2.17" in found.message and "2.27" in found.message and "2.21.0" in found.message
    assert found.fixes[1].requirements == ("tensorflow==2.20.0",)


@pytest.mark.parametrize(
    ("glibc", "release"), [("2.27", "2.21.0"), ("2.17", "2.20.0"), ("2.35", "2.21.0"), ("", "2.21.0")]
)
def test_healthy(glibc: str, release: str) -> None:
    assert facts.silent(rule, facts.platform(libc_version=glibc), facts.tensorflow_release(release))


def test_conda_builds_for_older_systems() -> None:
    conda = facts.distributions({}, facts.distribution("tensorflow", "2.21.0", installer="conda"))
    assert facts.silent(rule, facts.platform(libc_version="2.17"), facts.tensorflow_release("2.21.0"), conda)


def test_rests_without_glibc() -> None:
    assert facts.silent(rule, facts.windows(), facts.tensorflow())
    assert facts.silent(rule, facts.platform(libc="musl", libc_version="1.2.5"), facts.tensorflow())
