"""TFD228 fabric-manager-not-running: sick, healthy, and at the boundary."""

from __future__ import annotations

from dataclasses import replace

import facts
import pytest

from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules.driver.tfd228_fabric_manager_not_running import fabric_manager_not_running as rule


def waiting() -> object:
    gpus = facts.H100_SERVER.facts().get(Gpus)
    return replace(gpus, gpus=tuple(replace(g, fabric_state="in-progress") for g in gpus))


def test_sick() -> None:
    machine = facts.H100_SERVER.but(facts.fabric(running=False, version=""), waiting())
    diagnosis = machine.found(rule)
    assert (
        "4 NVSwitches" in diagnosis.message
        and "does not run" in diagnosis.message
        and "in-progress" in diagnosis.message
    )
    assert len(diagnosis.fixes) == 1 and len(diagnosis.fixes[0].commands) == 2  # install, then start


def test_a_container_does_not_see_the_service() -> None:
    container = facts.container(kind="docker")
    assert facts.H100_SERVER.but(container, facts.fabric(running=False)).silent(rule)
    assert facts.H100_SERVER.but(container, facts.fabric(running=False), waiting()).found(rule)


def test_done_is_done() -> None:
    assert facts.H100_SERVER.but(facts.fabric(running=False)).silent(rule)


def test_one_gpu_of_such_a_machine_in_a_virtual_machine() -> None:
    gpus = facts.gpus(facts.gpu(name="NVIDIA H100 80GB HBM3", fabric_state="not-started"))
    assert facts.WORKSTATION.but(gpus).silent(rule)


def test_healthy() -> None:
    assert facts.H100_SERVER.silent(rule)


def test_cuda_is_not_ready() -> None:
    machine = facts.H100_SERVER.but(facts.fabric(running=True), facts.cuda_fails(802))
    found = machine.found(rule)
    assert "has not joined" in found.message and "(802)" in found.evidence[0].says
    assert machine.codes()["TFD241"] == "TFD228"


def test_cuda_that_starts_does_not_wait() -> None:
    assert facts.H100_SERVER.but(facts.fabric(running=False), waiting(), facts.cuda_driver(8)).silent(rule)


@pytest.mark.parametrize(
    ("running", "kind", "silent"), [(False, "", False), (None, "", True), (True, "", True), (False, "docker", True)]
)
def test_where_the_gpus_tell_no_state_the_service_does(running: object, kind: str, silent: bool) -> None:
    gpus = facts.H100_SERVER.facts().get(Gpus)
    untold = replace(gpus, gpus=tuple(replace(g, fabric_state=None) for g in gpus))
    machine = facts.H100_SERVER.but(untold, facts.fabric(running=running), facts.container(kind=kind))
    assert machine.silent(rule) is silent
