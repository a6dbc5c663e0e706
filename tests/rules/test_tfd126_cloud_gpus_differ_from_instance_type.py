"""TFD126 cloud-gpus-differ-from-instance-type: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.rules.hardware.tfd126_cloud_gpus_differ_from_instance_type import (
    cloud_gpus_differ_from_instance_type as rule,
)


def instance(kind: str, *names: str, container: str = "", scheduler: str = "") -> tuple[object, ...]:
    cards = tuple(facts.gpu(i, name=name) for i, name in enumerate(names))
    return (
        facts.gpu_machine(count=len(cards)),
        facts.gpus(*cards),
        facts.cloud(provider="aws", instance_type=kind, virtual=True, product=kind),
        facts.container(kind=container),
        facts.job(scheduler=scheduler),
    )


def test_one_gpu_is_missing() -> None:
    diagnosis = facts.found(rule, *instance("p4d.24xlarge", *["NVIDIA A100-SXM4-40GB"] * 7))
    assert "p4d.24xlarge should show 8 NVIDIA A100 SXM4 40GB, 7 are here." in diagnosis.message


@pytest.mark.parametrize("name", ["Tesla T4", "NVIDIA A100-SXM4-80GB"])
def test_another_model(name: str) -> None:
    diagnosis = facts.found(rule, *instance("p4d.24xlarge", *["NVIDIA A100-SXM4-40GB"] * 7, name))
    assert name in diagnosis.message and diagnosis.gpus == (7,)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("p4d.24xlarge", ["NVIDIA A100-SXM4-40GB"] * 8),
        ("p3dn.24xlarge", ["Tesla V100-SXM2-32GB"] * 8),
        ("p5en.48xlarge", ["NVIDIA H200"] * 8),
        ("g4dn.xlarge", ["Tesla T4"]),
        ("g4dn.12xlarge", ["Tesla T4"] * 4),
        ("g5.xlarge", ["NVIDIA A10G"]),
        ("x9.metal", ["Tesla T4"]),
        ("", ["Tesla T4"]),
        ("p4d.24xlarge", ["A card of tomorrow"] * 8),
    ],
)
def test_healthy_or_not_known(kind: str, names: list[str]) -> None:
    assert facts.silent(rule, *instance(kind, *names))


def test_a_family_is_judged_by_what_no_size_has() -> None:
    assert "1, 4 or 8 NVIDIA T4, 3 are here" in facts.found(rule, *instance("g4dn.12xlarge", *["Tesla T4"] * 3)).message


@pytest.mark.parametrize("where", [{"container": "docker"}, {"scheduler": "slurm"}])
def test_a_container_or_a_job_may_be_given_only_some(where: dict[str, str]) -> None:
    assert facts.silent(rule, *instance("p4d.24xlarge", "NVIDIA A100-SXM4-40GB", **where))
