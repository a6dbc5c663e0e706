"""TFD220 nvidia-visible-devices-void: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.rules.driver.tfd220_nvidia_visible_devices_void import nvidia_visible_devices_void as rule


def void(value: str, nodes: object = None) -> facts.Machine:
    env = facts.environment(NVIDIA_VISIBLE_DEVICES=value)
    return facts.T4_CONTAINER.but(env, nodes or DeviceNodes((), "/dev"))


@pytest.mark.parametrize("value", ["void", "none", ""])
def test_sick(value: str) -> None:
    assert f'NVIDIA_VISIBLE_DEVICES is "{value}"' in void(value).found(rule).message


def test_cdi_sets_void_and_passes_the_nodes() -> None:
    assert void("void", facts.device_nodes()).silent(rule)


def test_other_values() -> None:
    assert void("all").silent(rule)
    assert void("0").silent(rule)


def test_outside_containers_it_means_nothing() -> None:
    assert void("void").but(facts.container()).silent(rule)


def test_a_job_without_a_gpu_is_the_scheduler_s_doing() -> None:
    assert void("void").but(facts.job(scheduler="kubernetes", gpus="")).silent(rule)


def test_nodes_not_seen() -> None:
    assert void("void").but(without=(DeviceNodes,)).silent(rule)
