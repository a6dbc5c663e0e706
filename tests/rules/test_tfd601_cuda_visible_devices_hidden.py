"""TFD601 cuda-visible-devices-hidden: the value as the driver reads it."""

from __future__ import annotations

from dataclasses import replace

import facts
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdoctor.model import Severity, Status
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus, MigInstance
from tfdoctor.rules.configuration._visible import read
from tfdoctor.rules.configuration.tfd601_cuda_visible_devices_hidden import cuda_visible_devices_hidden as rule

GPU = facts.gpu_machine(count=None)


def _two() -> Gpus:
    return facts.gpus(facts.gpu(0, uuid="GPU-8932f937-d72c"), facts.gpu(1, uuid="GPU-46ef1234-0000"))


@pytest.mark.parametrize(
    "value", ["", "-1", "2", "all", "none", "NoDevFiles", "0,0", '"0"', " ", "GPU-ffff", "-1,0", ",0", "void"]
)
def test_all_hidden(value: str) -> None:
    found = facts.found(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES=value), _two())
    assert "CUDA_VISIBLE_DEVICES" in found.message and repr(value) in found.message and found.severity is None
    assert found.fixes[0].environment == (("CUDA_VISIBLE_DEVICES", None),)


def test_an_index_that_does_not_exist_says_which_do() -> None:
    found = facts.found(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES="2"), _two())
    assert "2 names no GPU" in found.message and "the 2 here have indices up to 1" in found.message


@pytest.mark.parametrize("value", ["0", "1", "0,-1,1", "0,7", "GPU-8932", "0 , x", "1gpu"])
def test_some_hidden_is_only_mentioned(value: str) -> None:
    found = facts.found(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES=value), _two())
    assert found.severity is Severity.INFO and "1 of 2" in found.message


@pytest.mark.parametrize("value", ["0,1", "1,0", " 0, 1 ", "GPU-8932,GPU-46ef", "GPU-8932f937-d72c,GPU-46ef1234-0000"])
def test_all_visible(value: str) -> None:
    assert facts.silent(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES=value), _two())


def test_not_set() -> None:
    assert facts.silent(rule, GPU, facts.environment(), _two())


def test_how_many_there_are_may_be_unknown() -> None:
    assert facts.silent(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES="0"))
    assert facts.found(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES=""))
    assert facts.run(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES="3")).status is Status.SKIPPED
    assert facts.found(rule, facts.gpu_machine(count=2), facts.environment(CUDA_VISIBLE_DEVICES="3"))


MIG = ("MIG-1234aaaa-0000", "MIG-5678bbbb-0000")
OLD = ("MIG-GPU-8932f937-d72c/1/0", "MIG-GPU-8932f937-d72c/2/0")


def _split(*uuids: str) -> Gpus:
    card = facts.gpu(uuid="GPU-8932f937-d72c", mig=True)
    return facts.gpus(replace(card, mig_instances=tuple(MigInstance("1g.10gb", None, uuid) for uuid in uuids)))


def _of_mig(value: str, gpus: Gpus, *more: object) -> Status:
    return facts.run(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES=value), gpus, *more).status


@pytest.mark.parametrize(
    ("value", "uuids"),
    [
        ("MIG-9999", MIG),
        ("MIG-", MIG),
        ("MIG-GPU-ffffffff/1/0", MIG),
        ("MIG-GPU-8932f937-d72c/7/0", OLD),
        ("MIG-1234", OLD),
    ],
)
def test_a_mig_instance_that_is_none_of_the_known_ones(value: str, uuids: tuple[str, ...]) -> None:
    assert _of_mig(value, _split(*uuids)) is Status.FOUND


@pytest.mark.parametrize(("value", "uuids"), [("MIG-1234", MIG), (OLD[1], OLD), (MIG[1], MIG)])
def test_a_mig_instance_of_this_machine(value: str, uuids: tuple[str, ...]) -> None:
    assert _of_mig(value, _split(*uuids)) is Status.OK


@pytest.mark.parametrize(
    ("value", "uuids"),
    [("MIG-9999", ("", "")), ("MIG-9999", ()), ("MIG-9999", ("MIG-1234aaaa-0000", "")), ("MIG-GPU-8932/1/0", MIG)],
)
def test_instances_that_are_not_known(value: str, uuids: tuple[str, ...]) -> None:
    assert _of_mig(value, _split(*uuids)) is Status.SKIPPED
    assert _of_mig(value, _split(*uuids), facts.cuda_driver()) is Status.OK


def test_a_mig_instance_where_no_gpu_is_split() -> None:
    assert _of_mig("MIG-1234", facts.gpus(facts.gpu(mig=False))) is Status.FOUND


def test_uuids_that_are_not_known() -> None:
    assert _of_mig("GPU-1234", facts.gpus(facts.gpu(uuid=""))) is Status.SKIPPED


def test_mig_counts_in_instances() -> None:
    split = facts.gpus(facts.gpu(mig=True))
    assert facts.silent(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES="0"), split)
    assert facts.found(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES="-1"), split)


def test_a_scheduler_is_named() -> None:
    job = facts.job(scheduler="slurm", gpus="")
    found = facts.found(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES=""), _two(), job)
    assert "scheduler" in found.fixes[0].note


def test_rests_without_a_gpu() -> None:
    assert facts.silent(
        rule, facts.environment(CUDA_VISIBLE_DEVICES="-1"), rests={GpuMachine: "no NVIDIA GPU on this machine"}
    )


@given(st.text(), st.one_of(st.none(), st.integers(0, 16)))
def test_no_value_makes_it_raise(value: str, count: int) -> None:
    seen = read(value, count, ("GPU-aaaa",))
    assert len(set(seen.chosen)) == len(seen.chosen)
    assert count is None or value.startswith("MIG-") or len(seen.chosen) <= max(count, 1)


def test_cuda_was_tried_with_and_without_the_variable() -> None:
    split = facts.gpus(facts.gpu(mig=True))
    hidden = facts.cuda_fails(100, unhidden=1)
    found = facts.found(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES="MIG-1234"), split, hidden)
    assert "names no GPU of this machine" in found.message and found.severity is None
    assert "counts 1" in found.evidence[-1].says
    assert facts.found(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES="-1"), _two(), hidden).severity is None


def test_cuda_that_starts_has_a_gpu() -> None:
    assert facts.silent(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES="all"), _two(), facts.cuda_driver())
    assert facts.silent(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES="3"), facts.cuda_driver())
    some = facts.found(rule, GPU, facts.environment(CUDA_VISIBLE_DEVICES="1"), _two(), facts.cuda_driver())
    assert some.severity is Severity.INFO


def test_nothing_hides_them_when_cuda_fails_without_it_too() -> None:
    environment = facts.environment(CUDA_VISIBLE_DEVICES="0,1")
    assert facts.silent(rule, GPU, environment, _two(), facts.cuda_fails(100))
