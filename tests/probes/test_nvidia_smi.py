"""nvidia-smi on a live machine and in recordings: its failures, and what the facts become when it is all there is."""

from __future__ import annotations

import json
from pathlib import Path

import fake_nvml
import pytest
import smi_texts
from hypothesis import given
from hypothesis import strategies as st
from nvidia_stand_ins import Machine, recorded

from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Driver, Gpus, Nvml, Topology
from tfdoctor.probes.parse import nvml_answer, smi_error, smi_text

TABLE = smi_texts.table([smi_texts.GPU_ROW])
HEAD = {"driver_version": "535.104.05", "cuda_version": "12.2", "attached_gpus": "2"}
XML = smi_texts.xml(
    [
        {"id": "00000000:1A:00.0", "product_name": "NVIDIA A100-SXM4-80GB", "processes": ""},
        {"id": "00000000:3B:00.0", "product_name": "NVIDIA A100-SXM4-80GB", "processes": ""},
    ],
    HEAD,
)
MATRIX = smi_texts.matrix(
    ["GPU0", "GPU1"], [["X", "NV2"], ["NV2", "X"]], ["0-7\t0\t\tN/A", "8-15\t1\t\tN/A"], "CPU Affinity\tNUMA Affinity"
)
PEERS = " \tGPU0\tGPU1\t\n GPU0\tX\tTNS\t\n GPU1\tTNS\tX\t\n"
LINKS = "GPU 0: A (UUID: GPU-0)\n\t Link 0: 25.781 GB/s\nGPU 1: A (UUID: GPU-1)\n\t Link 0: 25.781 GB/s\n"

FAILURES = [
    ("couldn't communicate with the NVIDIA driver", 9, "driver-not-loaded"),
    ("NVIDIA-SMI couldn't find libnvidia-ml.so library", 12, "library-missing"),
    ("Failed to initialize NVML: Driver/library version mismatch", 18, "version-mismatch"),
    ("Failed to initialize NVML: Insufficient Permissions", 4, "no-permission"),
    ("No devices were found", 6, "no-devices"),
    ("Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.", 15, "gpu-lost"),
    ("Failed to initialize NVML: GPU access blocked by the operating system", 17, "blocked-by-os"),
    ("Failed to initialize NVML: Unknown Error", 255, "unknown"),
    ("Unable to determine the device handle for GPU 0000:0B:00.0: Unknown Error", 255, "unknown"),
]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    return Machine(monkeypatch, tmp_path)


@pytest.mark.parametrize(("text", "code", "problem"), FAILURES)
def test_failure_by_text_alone_and_with_its_code(text: str, code: int, problem: str) -> None:
    assert smi_error.problem_of(text, None) == problem
    assert smi_error.problem_of(text, code) == problem


@pytest.mark.parametrize(("code", "problem"), sorted(smi_error.CODES.items()))
def test_failure_by_code_alone(code: int, problem: str) -> None:
    assert smi_error.problem_of("words of another language", code) == problem


@pytest.mark.parametrize(
    ("text", "code", "problem"),
    [
        (TABLE, 0, ""), (TABLE, None, ""), (TABLE, 14, ""), (XML, None, ""),
        (TABLE, 15, "gpu-lost"), (TABLE.replace("1200MiB / 24576MiB", "       GPU is lost"), None, "gpu-lost"),
        ("", 0, "garbled"), ("", None, "garbled"), ("hello", 0, "garbled"), ("hello", 3, "unknown"),
    ],
)  # fmt: skip
def test_other_endings(text: str, code: int, problem: str) -> None:
    assert smi_error.problem_of(text, code) == problem


@given(st.text(), st.none() | st.integers(-20, 300))
def test_no_text_makes_it_raise(text: str, code: int) -> None:
    smi_error.problem_of(text, code)
    smi_error.words(text)
    smi_text.parse(text)


@pytest.mark.parametrize(("text", "code", "problem"), FAILURES)
def test_live_failure(machine: Machine, text: str, code: int, problem: str) -> None:
    found = machine.no_nvml().smi({"": text + "\n"}, code).facts().get(NvidiaSmi)
    assert (found.problem, found.code, found.text, found.version) == (problem, code, text, "")


def test_library_version_of_a_mismatch(machine: Machine) -> None:
    text = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.261\n"
    assert machine.no_nvml().smi({"": text}, 18).facts().get(NvidiaSmi).library_version == "535.261"


def test_not_run_where_nvml_answers(machine: Machine) -> None:
    facts = machine.nvml(fake_nvml.rtx3090()).smi({}, 1).facts()
    with pytest.raises(NotApplicable):
        facts.get(NvidiaSmi)
    assert len(facts.get(Gpus)) == 1


def test_missing(machine: Machine) -> None:
    assert machine.no_nvml().facts().get(NvidiaSmi).problem == "missing"


def test_rubbish(machine: Machine) -> None:
    facts = machine.no_nvml().smi({"": "\x00\x01 rubbish " * 1000}).facts()
    assert facts.get(NvidiaSmi).problem == "garbled"
    assert len(facts.get(NvidiaSmi).text) <= 400
    with pytest.raises(Unavailable):
        facts.get(Gpus)


def test_takes_over_where_nvml_cannot_be_loaded(machine: Machine) -> None:
    facts = (
        machine.no_nvml()
        .smi({"": TABLE, "-q -x": XML, "topo -m": MATRIX, "topo -p2p r": PEERS, "nvlink -s": LINKS})
        .facts()
    )
    assert facts.get(Nvml).state == "library-missing"
    assert facts.get(NvidiaSmi).problem == ""
    assert facts.get(Driver) == Driver("535.104.05", "12.2", "", "nvidia-smi -q -x")
    gpus = facts.get(Gpus)
    assert (gpus.source, gpus.disagreements) == ("nvidia-smi -q -x", ())
    assert [gpu.compute_capability for gpu in gpus] == ["8.0", "8.0"]
    assert [(gpu.active_nvlinks, gpu.cpu_affinity, gpu.numa_node) for gpu in gpus] == [(1, "0-7", 0), (1, "8-15", 1)]
    assert facts.get(Topology) == Topology({(0, 1): "NV2"}, {(0, 1): "TNS"}, "nvidia-smi topo")


def test_uuids_do_not_leave_with_an_error() -> None:
    text = "Unable to determine the device handle for GPU-12345678-1234-1234-1234-123456789abc: Unknown Error"
    assert "12345678" not in smi_error.words(text)


def test_lone_xml_is_a_recording(tmp_path: Path) -> None:
    facts = recorded(tmp_path, {"nvidia-smi-q.xml": XML})
    assert facts.get(Driver).version == "535.104.05"
    assert [gpu.name for gpu in facts.get(Gpus)] == ["NVIDIA A100-SXM4-80GB"] * 2
    for fact in (Nvml, NvidiaSmi, Topology):
        with pytest.raises(Unavailable):
            facts.get(fact)


def test_lone_table_is_a_recording(tmp_path: Path) -> None:
    facts = recorded(tmp_path, {"nvidia-smi.txt": TABLE})
    assert facts.get(NvidiaSmi) == NvidiaSmi("", None, "", "535.104.05", "nvidia-smi")
    assert facts.get(Driver) == Driver("535.104.05", "12.2", "", "nvidia-smi")
    assert facts.get(Gpus).gpus[0].compute_capability == "7.5"
    assert facts.get(Topology) == Topology({}, {}, "nvidia-smi")


def test_long_text_saved_as_the_table(tmp_path: Path) -> None:
    text = smi_texts.q_text(
        [{"id": "00000000:1A:00.0", "Product Name": "Tesla T4"}], {"Driver Version": "470.1", "CUDA Version": "11.4"}
    )
    facts = recorded(tmp_path, {"nvidia-smi.txt": text})
    assert facts.get(NvidiaSmi).problem == ""
    assert facts.get(Driver).cuda == "11.4"
    assert [gpu.compute_capability for gpu in facts.get(Gpus)] == ["7.5"]


def test_part_of_a_table(tmp_path: Path) -> None:
    facts = recorded(tmp_path, {"nvidia-smi.txt": "\n".join(smi_texts.row(*cells) for cells in smi_texts.GPU_ROW)})
    assert facts.get(NvidiaSmi).problem == ""
    with pytest.raises(Unavailable):
        facts.get(Driver)
    assert len(facts.get(Gpus)) == 1


def test_recorded_error(tmp_path: Path) -> None:
    facts = recorded(tmp_path, {"nvidia-smi.txt": "Failed to initialize NVML: Driver/library version mismatch\n"})
    assert facts.get(NvidiaSmi).problem == "version-mismatch"
    for fact in (Driver, Gpus):
        with pytest.raises(Unavailable):
            facts.get(fact)


def test_recorded_without_devices(tmp_path: Path) -> None:
    assert recorded(tmp_path, {"nvidia-smi.txt": "No devices were found\n"}).get(Gpus).gpus == ()


def test_matrix_without_gpus_around_it(tmp_path: Path) -> None:
    facts = recorded(tmp_path, {"nvidia-smi-topo-m.txt": MATRIX})
    with pytest.raises(Unavailable):
        facts.get(Gpus)


def nvml(*names: str, driver: str = "535.104.05") -> str:
    gpus = [{"index": i, "name": name} for i, name in enumerate(names)]
    return json.dumps({"state": "ok", "code": 0, "driver_version": driver, "cuda_driver_version": 12020, "gpus": gpus})


A100 = "NVIDIA A100-SXM4-80GB"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (nvml(A100, A100), []),
        (nvml(A100, A100, driver="535.54.03"), ["535.54.03", "535.104.05"]),
        (nvml(A100), ["1", "2"]),
        (nvml(A100, "Tesla T4"), ["Tesla T4", A100]),
    ],
)
def test_recorded_sources_that_disagree(tmp_path: Path, answer: str, words: list[str]) -> None:
    gpus = recorded(tmp_path, {"nvidia-smi-q.xml": XML}, answer).get(Gpus)
    assert gpus.source == "NVML"
    assert len(gpus.disagreements) == (1 if words else 0)
    assert all(word in said for said in gpus.disagreements for word in words)


def test_report_that_describes_fewer_than_it_counts(tmp_path: Path) -> None:
    text = smi_texts.xml([{"id": "00000000:1A:00.0", "product_name": A100}], {**HEAD, "attached_gpus": "4"})
    (said,) = recorded(tmp_path, {"nvidia-smi-q.xml": text}).get(Gpus).disagreements
    assert "4" in said and "1" in said


def test_wsl_versions_are_no_disagreement(tmp_path: Path) -> None:
    text = smi_texts.table([smi_texts.GPU_ROW], "NVIDIA-SMI 555.52.01    Driver Version: 555.99     CUDA Version: 12.5")
    facts = recorded(tmp_path, {"nvidia-smi.txt": text}, nvml("Quadro RTX 6000", driver="555.99"))
    assert facts.get(NvidiaSmi).version == "555.52.01"
    assert facts.get(Gpus).disagreements == ()


def test_recorded_topology_where_nvml_told_none(tmp_path: Path) -> None:
    facts = recorded(tmp_path, {"nvidia-smi-topo-m.txt": MATRIX}, nvml(A100, A100))
    assert facts.get(Topology).levels == {(0, 1): "NV2"}


def test_one_gpu_has_no_pairs(tmp_path: Path) -> None:
    assert recorded(tmp_path, {}, nvml(A100)).get(Topology) == Topology({}, {}, "NVML")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)
GPU_KEYS = st.sampled_from(
    ["index", "lost", "name", "bus", "memory", "pcie", "ecc", "rows", "pages", "mig", "mig_devices", "throttle", "power",
     "processes", "nvlinks", "memory_affinity", "fabric", "virtualization", "licensed", "errors", "driver_model",
     "compute_capability", "performance_state"]
)  # fmt: skip
ANSWER = st.fixed_dictionaries(
    {},
    optional={
        "state": JSON, "code": JSON, "error": JSON, "library_version": JSON, "driver_version": JSON, "count": JSON,
        "cuda_driver_version": JSON, "gpus": JSON | st.lists(st.dictionaries(GPU_KEYS, JSON, max_size=8), max_size=3),
        "pairs": JSON | st.lists(st.lists(JSON, max_size=6), max_size=4),
    },
)  # fmt: skip


@given(ANSWER)
def test_no_answer_makes_it_raise(answer: dict[str, object]) -> None:
    nvml_answer.nvml_of(answer)
    nvml_answer.driver_of(answer)
    nvml_answer.topology_of(answer, nvml_answer.gpus_of(answer))
