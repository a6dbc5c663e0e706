"""TFD328 cudnn-incomplete: a part is missing, none is."""

from __future__ import annotations

from dataclasses import replace

import facts

from tfdoctor.rules.libraries.tfd328_cudnn_incomplete import cudnn_incomplete


def with_parts_missing(*parts: str):
    whole = facts.library("cudnn")
    return facts.libraries(facts.library("cudnn", picked=replace(whole.picked, parts_missing=parts)))


def test_sick() -> None:
    sick = with_parts_missing("libcudnn_graph.so.9")
    found = facts.found(cudnn_incomplete, facts.gpu_machine(), sick, facts.tensorflow(), facts.interpreter())
    assert "libcudnn_graph.so.9" in found.message
    assert found.fixes[0].requirements == ("nvidia-cudnn-cu12==9.12.0.46",)


def test_healthy() -> None:
    assert facts.silent(cudnn_incomplete, facts.gpu_machine(), facts.libraries(), facts.tensorflow())


def test_no_cudnn_at_all_is_another_fault() -> None:
    none = facts.libraries(facts.library("cudnn", picked=None))
    assert facts.silent(cudnn_incomplete, facts.gpu_machine(), none, facts.tensorflow())


def test_the_release_that_opens_the_parts_at_once_lists_no_gpu() -> None:
    sick = with_parts_missing("libcudnn_ops.so.9")
    for version, blocks in (("2.20.0", False), ("2.21.0", True)):
        found = facts.found(cudnn_incomplete, facts.gpu_machine(), sick, facts.tensorflow(version=version))
        assert found.blocks is blocks
