"""TFD818 tf-config-address-unreachable: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.distributed.tfd818_tf_config_address_unreachable import tf_config_address_unreachable as rule

CLUSTER = '{"cluster": {"worker": ["%s", "%s"]}, "task": {"type": "worker", "index": 0}}'


def test_loopback_among_several() -> None:
    diagnosis = facts.found(rule, facts.environment(TF_CONFIG=CLUSTER % ("localhost:2222", "host2:2222")))
    assert "2 addresses" in diagnosis.message and "localhost:2222" in diagnosis.message


def test_not_json() -> None:
    assert "JSON" in facts.found(rule, facts.environment(TF_CONFIG="{'cluster': 1}")).message
    assert "JSON" in facts.found(rule, facts.environment(TF_CONFIG="[]")).message


def test_several_workers_on_one_machine() -> None:
    assert facts.silent(rule, facts.environment(TF_CONFIG=CLUSTER % ("localhost:2222", "localhost:2223")))


def test_healthy() -> None:
    assert facts.silent(rule, facts.environment(TF_CONFIG=CLUSTER % ("host1:2222", "host2:2222")))
    assert facts.silent(rule, facts.environment())
