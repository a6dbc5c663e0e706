"""Requirements: what is written, what is there, and the three answers."""

from __future__ import annotations

import contextlib

import facts
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdoctor.model import BadInput, Report, Verdict
from tfdoctor.preflight.judge import _SEEN, judge
from tfdoctor.preflight.requirement import SUBJECTS, number, parse
from tfdoctor.probes.nvml import Driver, Ecc, GpuProcess, Gpus, NvLink, RowRemap
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.smoke.results import SmokeResult

GIB = 2**30


def state(text: str, *changed, verdict: str = "yes", without=()) -> str:
    machine = facts.WORKSTATION.but(*changed, without=without)
    report = Report("python", {}, {}, (), (), Verdict(verdict, None, "it is so."))
    return judge(parse(text), report, machine.facts()).state


@pytest.mark.parametrize(
    ("met", "not_met"),
    [
        ("gpus>=1", "gpus>=2"),
        ("gpus=1", "gpus!=1"),
        ("gpu-model=RTX 3090", "gpu-model=A100"),
        ("gpu-model!=A100", "gpu-model!=3090"),
        ("compute-capability>=8.0", "compute-capability>=9.0"),
        ("driver>=535", "driver>=560"),
        ("driver>=535,<551", "driver>=535,<550"),
        ("cuda-driver>=12.4", "cuda-driver>=12.5"),
        ("tensorflow>=2.16,<2.22", "tensorflow<2.20"),
        ("python==3.11.*", "python>=3.12"),
        ("cuda>=12", "cuda>=13"),
        ("cudnn>=9", "cudnn<9"),
        ("nccl>=2.20", "nccl>=3"),
        ("pcie-width>=16", "pcie-width>16"),
        ("pcie-width>=x8", "pcie-width<16"),
        ("free-memory>=20GiB", "free-memory>=24GiB"),
        ("free-memory>=20GB", "free-memory>=1TB"),
        ("shm>=1GiB", "shm>=64GiB"),
        ("nvlink=none", "nvlink=full"),
        ("no-processes", "gpus<1"),
    ],
)
def test_met_and_not_met(met: str, not_met: str) -> None:
    assert state(met) == "met"
    assert state(not_met) == "not-met"


def test_the_verdict_as_a_requirement() -> None:
    assert [state("gpu", verdict=v) for v in ("yes", "no", "unknown")] == ["met", "not-met", "unknown"]


def test_smoke_tests_that_were_not_run_tell_nothing() -> None:
    assert state("smoke.matmul>=0.4") == state("smoke.allreduce>=1") == "unknown"


@pytest.mark.parametrize("text", ["gpus>=1", "gpu-model=A100", "pcie-width>=1", "ecc=clean", "no-processes"])
def test_what_could_not_be_looked_at_is_unknown_and_not_met(text: str) -> None:
    assert state(text, without=(Gpus,)) == "unknown"


def test_a_value_that_the_driver_does_not_tell_is_unknown() -> None:
    assert state("free-memory>=1GiB", facts.gpus(facts.gpu(memory_used=None))) == "unknown"
    assert state("driver>=1", without=(Driver,)) == "unknown"
    assert state("ecc=clean", facts.gpus(facts.gpu(ecc=Ecc()))) == "unknown"


def test_of_several_gpus_the_least_counts() -> None:
    two = facts.gpus(facts.gpu(0), facts.gpu(1, compute_capability="10.0", memory_used=23 * GIB))
    assert state("compute-capability>=8.6", two) == "met"
    assert state("compute-capability>=9.0", two) == "not-met"
    assert state("free-memory>=20GiB", two) == "not-met"


def test_ecc_and_nvlink() -> None:
    clean, dirty = Ecc(enabled=True, volatile_uncorrected=0), Ecc(enabled=True, aggregate_uncorrected=3)
    assert state("ecc=clean", facts.gpus(facts.gpu(ecc=clean))) == "met"
    assert state("ecc=clean", facts.gpus(facts.gpu(ecc=dirty))) == "not-met"
    assert state("ecc=on", facts.gpus(facts.gpu(ecc=dirty))) == "met"
    for waits in (RowRemap(pending=True), RowRemap(failed=True)):
        assert state("ecc=clean", facts.gpus(facts.gpu(ecc=clean, rows=waits))) == "not-met"
    up = tuple(NvLink(i, True) for i in range(4))
    assert state("nvlink=full", facts.gpus(facts.gpu(nvlinks=up))) == "met"
    assert state("nvlink=full", facts.gpus(facts.gpu(nvlinks=(*up[:3], NvLink(3, False))))) == "not-met"


@pytest.mark.parametrize(("kind", "wanted"), [("compute", "not-met"), ("graphics", "met")])
def test_only_processes_that_compute_count(kind: str, wanted: str) -> None:
    held = facts.gpus(facts.gpu(processes=(GpuProcess(7, None, "python", "this user", kind),)))
    assert state("no-processes", held) == wanted


@pytest.mark.parametrize(
    ("text", "state", "have", "why"),
    [
        ("gpu", "met", "yes", "gpu holds."),
        ("gpus>=2", "not-met", "1", "gpus>=2 is not met: 1 is here."),
        ("shm>=1GiB", "met", "16.0 GiB", "shm>=1GiB is met: 16.0 GiB."),
    ],
)
def test_what_is_said(text: str, state: str, have: str, why: str) -> None:
    report = Report("python", {}, {}, (), (), Verdict("yes", None, "it is so."))
    said = judge(parse(text), report, facts.WORKSTATION.but(facts.shm(total=16 * GIB)).facts())
    assert (said.state, said.have, said.why) == (state, have, why)


@pytest.mark.parametrize(
    "odd",
    [
        SmokeResult("allreduce", "not-run", ""),
        SmokeResult("allreduce", "passed", "", rehearsal=True, measured={"replicas": 2, "allreduce": []}),
        SmokeResult("devices", "passed", ""),
    ],
)
def test_an_allreduce_that_measured_no_gpus_is_unknown(odd: SmokeResult) -> None:
    assert state("smoke.allreduce>=1", SmokeResults((odd,), (), (), "tfdoctor smoke")) == "unknown"


def eight(count: int = 8, name: str = "NVIDIA A100-SXM4-40GB", **cloud: str) -> tuple[object, ...]:
    """A cloud's machine with so many GPUs."""
    cards = tuple(facts.gpu(i, name=name) for i in range(count))
    return facts.gpu_machine(count=count), facts.gpus(*cards), facts.cloud(virtual=True, **cloud)


@pytest.mark.parametrize(
    ("text", "machine", "wanted"),
    [
        ("instance=p4d.24xlarge", eight(provider="aws", instance_type="p4d.24xlarge"), "met"),
        ("instance=p4d.24xlarge", eight(7, provider="aws", instance_type="p4d.24xlarge"), "not-met"),
        ("instance=p5.48xlarge", eight(provider="aws", instance_type="p4d.24xlarge"), "not-met"),
        ("instance!=p5.48xlarge", eight(provider="aws", instance_type="p4d.24xlarge"), "met"),
        (
            "instance=x9.metal",
            eight(provider="aws", instance_type="x9.metal"),
            "met",
        ),  # of which the table knows nothing
        ("instance=a2-highgpu-8g", eight(provider="gcp"), "met"),  # whose firmware does not tell the type
        ("instance=a2-highgpu-8g", eight(7, provider="gcp"), "not-met"),
        ("instance=a3-highgpu-8g", eight(provider="gcp"), "not-met"),
        ("instance=Standard_ND96asr_v4", eight(provider="azure"), "met"),
        ("instance=Standard_ND96asr_v4", eight(6, provider="azure"), "not-met"),
        ("instance=Standard_ND96asr_v4", (*eight(6, provider="azure"), facts.job(scheduler="slurm")), "met"),
        ("instance=some-type", eight(provider="gcp"), "unknown"),
        ("instance!=some-type", eight(provider="gcp"), "unknown"),
        ("instance=a2-highgpu-8g", eight(), "not-met"),  # no cloud's machine
    ],
)
def test_instance(text: str, machine: tuple[object, ...], wanted: str) -> None:
    assert state(text, *machine) == wanted


def test_instance_says_what_is_missing() -> None:
    machine = facts.WORKSTATION.but(*eight(7, provider="gcp"))
    report = Report("python", {}, {}, (), (), Verdict("yes", None, "it is so."))
    said = judge(parse("instance=a3-megagpu-8g"), report, machine.facts())
    assert (
        said.why == "instance=a3-megagpu-8g is not met: a3-megagpu-8g should show 8 NVIDIA H100 SXM5 80GB, 7 are here."
    )
    assert said.have == "7 × NVIDIA A100-SXM4-40GB"


def test_smoke_shares() -> None:
    listed = [{"name": "NVIDIA A100-SXM4-40GB", "compute_capability": "8.0"}]
    results = SmokeResults(
        (
            SmokeResult("devices", "passed", "", measured={"gpus": 1, "listed": listed}),
            SmokeResult("matmul", "passed", "", measured={"tflops": {"GPU:0 fp16": 156.0}}),
            SmokeResult(
                "allreduce",
                "passed",
                "",
                measured={"replicas": 2, "allreduce": [{"way": "default", "bytes": 10**9, "seconds": 0.01}]},
            ),
        ),
        (),
        (),
        "tfdoctor smoke",
    )
    assert state("smoke.matmul>=0.5", results) == "met"
    assert state("smoke.matmul>=60%", results) == "not-met"
    assert state("smoke.allreduce>=100", results) == "met"
    assert state("smoke.allreduce>=101", results) == "not-met"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gpuz>=2",
        "gpus",
        "gpus>=",
        "gpus>=two",
        "gpu>=1",
        "driver>=abc",
        "shm>=1XB",
        "free-memory>=20",
        "nvlink=half",
        "nvlink>=full",
        "gpus>=2 gpus<4 x",
        "free-memory",
        ">=2",
        "no-processes=1",
    ],
)
def test_what_is_no_requirement_is_named_with_what_would_be_right(text: str) -> None:
    with pytest.raises(BadInput) as wrong:
        parse(text)
    assert text in str(wrong.value)


@given(st.text())
def test_no_text_does_anything_else_than_parse_or_be_refused(text: str) -> None:
    with contextlib.suppress(BadInput):
        assert parse(text).subject in SUBJECTS


def test_every_subject_can_be_seen() -> None:
    assert set(_SEEN) == set(SUBJECTS)


def test_sizes() -> None:
    assert number("1GiB", "bytes") == 2**30
    assert number("1.5 GB", "bytes") == 1.5e9
