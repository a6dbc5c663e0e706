"""TFD606 xla-flags-unknown: what a log shows of it."""

from __future__ import annotations

import facts
from log_faults import explained, only_in_a_log

from tfdoctor.rules.configuration.tfd606_xla_flags_unknown import xla_flags_unknown as rule


def test_says_what_the_log_said() -> None:
    found = explained(rule, flags="--xla_gpu_old")
    assert "--xla_gpu_old" in found.message
    assert "17" in found.evidence[0].says and "XLA_FLAGS" in found.fixes[0].title


def test_a_pattern_without_groups_is_enough() -> None:
    assert explained(rule).message


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)


def test_the_other_flags_stay() -> None:
    now = facts.environment(XLA_FLAGS="--xla_gpu_old=1 --xla_dump_to=/tmp/x")
    found = explained(rule, now, flags="--xla_gpu_old")
    assert found.fixes[0].environment == (("XLA_FLAGS", "--xla_dump_to=/tmp/x"),)


def test_alone_the_variable_goes() -> None:
    now = facts.environment(XLA_FLAGS="--xla_gpu_old=1")
    assert explained(rule, now, flags="--xla_gpu_old").fixes[0].environment == (("XLA_FLAGS", None),)
