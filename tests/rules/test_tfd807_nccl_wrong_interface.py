"""TFD807 nccl-wrong-interface: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.distributed.tfd807_nccl_wrong_interface import nccl_wrong_interface as rule


def test_sick() -> None:
    log = facts.log_match("nccl-wrong-interface", "Using docker0:172.17.0.1", (2,), interface="docker0")
    diagnosis = facts.found(rule, log)
    assert "docker0" in diagnosis.message
    assert diagnosis.fixes[0].environment[0][0] == "NCCL_SOCKET_IFNAME"


def test_what_was_set_is_evidence() -> None:
    log = facts.log_match("nccl-wrong-interface")
    assert len(facts.found(rule, log, facts.environment(NCCL_SOCKET_IFNAME="lo")).evidence) == 2
    assert rule.log_only
