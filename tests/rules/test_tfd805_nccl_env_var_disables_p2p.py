"""TFD805 nccl-env-var-disables-p2p: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.rules.distributed.tfd805_nccl_env_var_disables_p2p import nccl_env_var_disables_p2p as rule

NV4 = facts.topology({(0, 1): "NV4"}, {(0, 1): "OK"})


@pytest.mark.parametrize(
    ("name", "value"), [("NCCL_P2P_DISABLE", "1"), ("NCCL_P2P_LEVEL", "LOC"), ("NCCL_P2P_LEVEL", "0")]
)
def test_sick(name: str, value: str) -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), NV4, facts.environment(**{name: value}))
    assert f"{name} is {value}" in diagnosis.message and "NV4" in diagnosis.message
    assert diagnosis.fixes[0].environment == ((name, None),)


def test_without_nvlink_it_may_be_right() -> None:
    topology = facts.topology({(0, 1): "PHB"}, {(0, 1): "OK"})
    assert facts.silent(rule, facts.gpu_machine(), topology, facts.environment(NCCL_P2P_DISABLE="1"))


def test_other_values() -> None:
    assert facts.silent(rule, facts.gpu_machine(), NV4, facts.environment(NCCL_P2P_DISABLE="0", NCCL_P2P_LEVEL="NVL"))
    assert facts.silent(rule, facts.gpu_machine(), NV4, facts.environment())
