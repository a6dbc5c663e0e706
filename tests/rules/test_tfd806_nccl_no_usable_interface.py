"""TFD806 nccl-no-usable-interface: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.distributed.tfd806_nccl_no_usable_interface import nccl_no_usable_interface as rule

LOG = facts.log_match("nccl-no-usable-interface", "no socket interface found", (2,))


def test_sick() -> None:
    diagnosis = facts.found(rule, LOG, facts.environment(NCCL_SOCKET_IFNAME="ib0"), facts.container(kind="docker"))
    assert "ib0" in diagnosis.message
    assert diagnosis.fixes[0].environment == (("NCCL_SOCKET_IFNAME", None),)
    assert "--network=host" in diagnosis.fixes[1].commands[0]


def test_the_log_alone() -> None:
    assert "not set" in facts.found(rule, LOG).message
    assert rule.log_only
