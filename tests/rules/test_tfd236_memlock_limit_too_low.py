"""TFD236 memlock-limit-too-low: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd236_memlock_limit_too_low import memlock_limit_too_low as rule

CLUSTER = '{"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}'
LOW = facts.limits(memlock=8 * facts.MIB)


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), LOW, facts.environment(TF_CONFIG=CLUSTER))
    assert "8192 KiB" in diagnosis.message


def test_one_host_does_not_need_it() -> None:
    assert facts.silent(rule, facts.gpu_machine(), LOW, facts.environment())
    one = CLUSTER.replace("host2", "host1")
    assert facts.silent(rule, facts.gpu_machine(), LOW, facts.environment(TF_CONFIG=one))
    assert facts.silent(rule, facts.gpu_machine(), LOW, facts.environment(TF_CONFIG="not JSON"))


def test_infiniband_variables() -> None:
    assert facts.found(rule, facts.gpu_machine(), LOW, facts.environment(NCCL_IB_HCA="mlx5_0"))
    assert facts.silent(rule, facts.gpu_machine(), LOW, facts.environment(NCCL_IB_DISABLE="1"))


def test_enough() -> None:
    env = facts.environment(TF_CONFIG=CLUSTER)
    assert facts.silent(rule, facts.gpu_machine(), facts.limits(memlock=None), env)
    assert facts.silent(rule, facts.gpu_machine(), facts.limits(memlock=facts.GIB), env)
    assert facts.found(rule, facts.gpu_machine(), facts.limits(memlock=facts.GIB - 1), env)
