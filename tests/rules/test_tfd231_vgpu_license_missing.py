"""TFD231 vgpu-license-missing: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd231_vgpu_license_missing import vgpu_license_missing as rule


def guest(**changes: object) -> object:
    values = {"name": "GRID A100-8C", "virtualization": "vgpu", "license": "unlicensed", **changes}
    return facts.gpus(facts.gpu(**values))


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), guest())
    assert "GRID A100-8C" in diagnosis.message and "unlicensed" in diagnosis.message


def test_licensed_or_not_told() -> None:
    assert facts.silent(rule, facts.gpu_machine(), guest(license="licensed"))
    assert facts.silent(rule, facts.gpu_machine(), guest(license=""))


def test_the_host_and_whole_cards_need_none() -> None:
    assert facts.silent(rule, facts.gpu_machine(), guest(virtualization="host-vgpu"))
    assert facts.silent(rule, facts.gpu_machine(), guest(virtualization="passthrough"))
