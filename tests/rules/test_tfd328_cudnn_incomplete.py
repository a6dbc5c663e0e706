"""TFD328 cudnn-incomplete: a part is missing, none is."""

from __future__ import annotations

from dataclasses import replace

import facts
import pytest

from tfdoctor.model import Severity
from tfdoctor.probes.libraries import Libraries
from tfdoctor.rules.libraries.tfd328_cudnn_incomplete import cudnn_incomplete


def with_parts(missing: tuple[str, ...] = (), broken: tuple[str, ...] = (), other: tuple[str, ...] = ()) -> Libraries:
    picked = facts.library("cudnn").picked
    assert picked is not None
    picked = replace(picked, parts_missing=missing, parts_broken=broken, parts_other=other)
    return facts.libraries(facts.library("cudnn", picked=picked))


def test_sick() -> None:
    sick = with_parts(missing=("libcudnn_graph.so.9",))
    found = facts.found(cudnn_incomplete, facts.gpu_machine(), sick, facts.tensorflow(), facts.interpreter())
    assert "libcudnn_graph.so.9" in found.message
    assert found.fixes[0].requirements == ("nvidia-cudnn-cu12==9.12.0.46",)


def test_healthy() -> None:
    assert facts.silent(cudnn_incomplete, facts.gpu_machine(), facts.libraries(), facts.tensorflow())


def test_no_cudnn_at_all_is_another_fault() -> None:
    none = facts.libraries(facts.library("cudnn", picked=None))
    assert facts.silent(cudnn_incomplete, facts.gpu_machine(), none, facts.tensorflow())


@pytest.mark.parametrize(
    ("version", "part", "blocks"),
    [
        ("2.20.0", "libcudnn_graph.so.9", False),
        ("2.21.0", "libcudnn_graph.so.9", True),
        ("2.21.0", "libcudnn_ops.so.9", False),
    ],
)
@pytest.mark.parametrize("broken", [False, True])
def test_the_release_that_opens_a_part_at_once_lists_no_gpu(
    version: str, part: str, blocks: bool, broken: bool
) -> None:
    sick = with_parts(broken=(f"{part}: file ends too early",)) if broken else with_parts(missing=(part,))
    found = facts.found(cudnn_incomplete, facts.gpu_machine(), sick, facts.tensorflow(version=version))
    assert (found.severity, found.blocks) == (None, blocks)
    assert part in found.message and ("too early" in found.message) is broken


def test_a_part_that_only_some_networks_need() -> None:
    sick = with_parts(missing=("libcudnn_adv.so.9",))
    found = facts.found(cudnn_incomplete, facts.gpu_machine(), sick, facts.tensorflow(version="2.21.0"))
    assert (found.severity, found.blocks) == (Severity.WARNING, False)


def test_parts_of_another_version() -> None:
    sick = with_parts(other=("libcudnn_ops.so.9: 9.1.0",))
    found = facts.found(cudnn_incomplete, facts.gpu_machine(), sick, facts.tensorflow(version="2.21.0"))
    assert (found.severity, found.blocks) == (None, False)
    assert "cuDNN 9.12.0.46" in found.message and "libcudnn_ops.so.9: 9.1.0" in found.message
