"""What must be true of the data in compat/: form, sources, ranges, and that rows name rows that are there."""

from __future__ import annotations

import datetime
import json
import re
import shutil
from dataclasses import fields
from pathlib import Path

import column_reads
import pytest
from packaging.markers import Marker
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tfdoctor.tables import FILES, Tables, fits
from tfdoctor.tables.cuda_rows import (
    CudaLibraries,
    CudnnSupport,
    DriverBranch,
    ForwardCompat,
    NcclSupport,
    PtxIsa,
    Toolkit,
)
from tfdoctor.tables.gpu_code import as_text
from tfdoctor.tables.hardware_rows import ComputeCapability, Gpu, Instance, OtherGpu
from tfdoctor.tables.limit_rows import DeviceBaseline
from tfdoctor.tables.log_rows import ErrorCode, Xid
from tfdoctor.tables.names import find_gpu
from tfdoctor.tables.rows import Row
from tfdoctor.tables.tf_rows import Companion, Distribution, Plugin, SystemSupport, TfDefect

REPOSITORY = Path(__file__).resolve().parent.parent
COMPAT = REPOSITORY / "compat"
TABLES = Tables(COMPAT)
#: What logs look like has tests of its own.
LOGS = {"known_causes", "known_errors"}
NAMES = sorted(set(FILES) - LOGS)


def raw(name: str) -> dict:
    return json.loads((COMPAT / f"{name}.json").read_text(encoding="utf-8"))


def test_every_table_has_a_file_and_every_file_is_read():
    assert {path.stem for path in COMPAT.glob("*.json")} == set(FILES)


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_in_canonical_form(name):
    table = raw(name)
    text = json.dumps(table, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert (COMPAT / f"{name}.json").read_text(encoding="utf-8") == text
    assert table["about"]


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_in_the_order_of_their_key(name):
    def order(row: dict) -> list:
        values = [row[key] for key in FILES[name][1]]
        versions = ("version", "cuda", "ptx_isa", "compute_capability", "family")
        return [
            Version(value) if key in versions and isinstance(value, str) and value[:1].isdigit() else value
            for key, value in zip(FILES[name][1], values)
        ]

    rows = raw(name)["rows"]
    assert rows == sorted(rows, key=order)


@pytest.mark.parametrize("name", NAMES)
def test_every_row_is_sourced_dated_and_graded(name):
    for row in TABLES.rows(FILES[name][0]):
        assert len(row.source) > 5, row
        assert datetime.date(2026, 1, 1) <= datetime.date.fromisoformat(row.checked) <= datetime.date.today()
        assert row.solid == (row.grade != "second-hand")


@pytest.mark.parametrize("name", NAMES)
def test_no_table_names_a_registry_host_or_a_path_of_a_machine(name):
    text = (COMPAT / f"{name}.json").read_text(encoding="utf-8")
    hosts = ["py" + "pi.org", "python" + "hosted", "npm" + "js", "/work/", "/root/", "/home/", "shared/evidence"]
    assert not [host for host in hosts if host in text]


def ranges(value):
    """Every range in a row, wherever it is."""
    if isinstance(value, Row) or hasattr(value, "__dataclass_fields__"):
        for field in fields(value):
            inner = getattr(value, field.name)
            if field.type == "Range":
                yield inner
            elif "Mapping[str, Range]" in str(field.type) and inner:
                yield from inner.values()
            else:
                yield from ranges(inner)
    elif isinstance(value, tuple):
        for item in value:
            yield from ranges(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from ranges(item)


@pytest.mark.parametrize("name", NAMES)
def test_every_range_is_a_pep_440_specifier(name):
    for row in TABLES.rows(FILES[name][0]):
        for text in ranges(row):
            SpecifierSet(text)


def test_markers_parse():
    markers = {q.marker for row in TABLES.releases() for listed in row.requires.values() for q in listed}
    for marker in markers - {""}:
        Marker(marker)


@pytest.mark.parametrize("row", TABLES.releases(), ids=lambda row: row.version)
def test_what_a_release_names_is_in_the_other_tables(row):
    assert row.has_gpu_build
    assert TABLES.driver_floor(row.cuda) is not None
    assert TABLES.toolkits(row.cuda), row.cuda
    assert TABLES.cudnn_support(row.cudnn, row.cuda), row.cudnn
    for code in row.compute_capabilities:
        assert TABLES.compute_capability(code) is not None
    for code in row.gpu_code:
        assert code.machine_code
        assert code.ptx_isa is None or TABLES.ptx_driver(code.ptx_isa) is not None
        for capability in (*code.machine_code, *([code.ptx] if code.ptx else [])):
            assert TABLES.compute_capability(capability) is not None
    for platform in row.platforms:
        assert platform.pythons
        assert platform.forwards_to is None or TABLES.distribution(platform.forwards_to) is not None
        assert not (platform.stub and platform.is_cuda)
    assert TABLES.distribution(row.gpu_distribution) is not None


@pytest.mark.parametrize("row", TABLES.releases(), ids=lambda row: row.version)
def test_the_names_a_release_loads_are_those_of_its_toolkit(row):
    libraries = TABLES.cuda_libraries(row.cuda)
    for component, name in row.sonames.items():
        if component in libraries.sonames and component != "cupti":
            assert libraries.sonames[component] == name


@pytest.mark.parametrize("row", TABLES.releases(), ids=lambda row: row.version)
def test_what_the_extra_resolves_to_is_in_its_ranges(row):
    if row.and_cuda is None:
        assert Version(row.version) < Version("2.14")
        assert row.and_cuda_resolved is None
        return
    assert set(row.and_cuda_resolved) | set(row.and_cuda_missing) == set(row.and_cuda)
    for name, version in row.and_cuda_resolved.items():
        assert fits(version, row.and_cuda[name])


def test_releases_are_final_and_reach_from_2_0_on():
    versions = [Version(row.version) for row in TABLES.releases()]
    assert not any(version.is_prerelease for version in versions)
    minors = {version.release[:2] for version in versions}
    assert minors == {(2, minor) for minor in range(max(minors)[1] + 1)}


def test_gpus_name_capabilities_and_links_that_are_there():
    for gpu in TABLES.rows(Gpu):
        capability = TABLES.compute_capability(gpu.compute_capability)
        assert capability is not None
        assert capability.architecture == gpu.architecture, gpu.name
        assert gpu.nvlink_generation is None or TABLES.nvlink(gpu.nvlink_generation) is not None
        assert gpu.pcie_generation is None or TABLES.pcie(gpu.pcie_generation) is not None
        assert (gpu.performance_grade is None) == (gpu.fp32_tflops is None)
        assert not gpu.tensor_cores or capability.tensor_core_generation > 0
        assert gpu.bf16_tflops is None or capability.bf16 == "tensor"
        assert gpu.fp8_tflops is None or capability.fp8


#: How many times the FP32 rate the dense FP16 rate is at most, by compute capability: what the tensor cores of an SM do in
#: a clock against what its FP32 units do. GeForce cards accumulate in FP32 at half that rate.
DENSE_FP16 = {"7.0": 8, "7.5": 8, "8.0": 16, "8.6": 4, "8.9": 4, "9.0": 16, "10.0": 32, "10.3": 32, "12.0": 4}


def test_the_rates_of_gpus_are_dense():
    """A rate with sparsity is twice the dense one, so it stands out against the other rates of its row."""
    for gpu in TABLES.rows(Gpu):
        if gpu.fp16_tflops is None:
            continue
        half_rate = gpu.kind == "consumer" and gpu.compute_capability != "7.0"
        most = DENSE_FP16[gpu.compute_capability] * (0.5 if half_rate else 1)
        assert gpu.fp16_tflops <= 1.05 * most * gpu.fp32_tflops, gpu.name
        expected = {
            "bf16_tflops": gpu.fp16_tflops,
            "tf32_tflops": gpu.fp16_tflops / 2,
            "fp8_tflops": gpu.fp16_tflops * 2,
            "int8_tops": gpu.fp16_tflops * (4 if half_rate else 2),
        }
        for column, rate in expected.items():
            told = getattr(gpu, column)
            assert told is None or abs(told / rate - 1) < 0.02, (gpu.name, column)


def test_a_rate_has_a_document_or_says_that_it_is_second_hand():
    for gpu in TABLES.rows(Gpu):
        assert (gpu.performance_grade is None) == ("; rates: " not in gpu.source), gpu.name
        assert gpu.performance_grade != "official" or not gpu.source.endswith("; rates: ")


def test_only_chips_that_lack_them_are_said_to_have_no_tensor_cores():
    """Turing came with and without; every other architecture has them on all chips or on none."""
    for gpu in TABLES.rows(Gpu):
        capability = TABLES.compute_capability(gpu.compute_capability)
        assert gpu.tensor_cores == (capability.tensor_core_generation > 0) or gpu.compute_capability == "7.5", gpu.name


def test_every_gpu_is_found_by_its_own_name_and_aliases():
    for gpu in TABLES.rows(Gpu):
        for name in (gpu.name, *gpu.aliases):
            assert find_gpu(name, TABLES.rows(Gpu)).name == gpu.name, name


def test_toolkits_have_a_driver_branch_and_a_floor():
    for toolkit in TABLES.rows(Toolkit):
        if Version(toolkit.cuda) >= Version("10.0"):
            assert TABLES.driver_floor(toolkit.cuda) is not None
            assert TABLES.cuda_libraries(toolkit.cuda) is not None
        if Version(toolkit.cuda) >= Version("11.0") and toolkit.linux is not None:
            assert TABLES.driver_for_cuda(toolkit.cuda) is not None


def test_branches_and_ptx_agree():
    branches = {row.branch: row for row in TABLES.rows(DriverBranch)}
    for row in TABLES.rows(PtxIsa):
        if row.driver_branch is not None:
            assert row.driver_branch in branches
            assert Version(branches[row.driver_branch].cuda) >= Version(row.cuda)
    for package in TABLES.rows(ForwardCompat):
        assert set(package.on_branches) <= set(branches)
    cudas = [Version(branches[number].cuda) for number in sorted(branches)]
    assert cudas == sorted(cudas)


def test_capabilities_have_a_toolkit_that_is_not_later_than_their_last():
    for row in TABLES.rows(ComputeCapability):
        assert row.last_cuda is None or Version(row.first_cuda) <= Version(row.last_cuda)
        assert row.compute_capability == as_text("sm_" + row.compute_capability.replace(".", ""))


def test_ranges_of_cudnn_do_not_overlap():
    for major in ("9", "10", "11", "12", "13"):
        rows = [row for row in TABLES.rows(CudnnSupport) if row.cuda_major == major]
        for version in (
            "7.4.2",
            "7.6",
            "7.6.5",
            "8.0.5",
            "8.1.0",
            "8.6.0",
            "8.9.7",
            "9.3.0.75",
            "9.10.2.21",
            "9.11.0.98",
            "9.28.0.42",
        ):
            assert sum(fits(version, row.versions) for row in rows) <= 1


def test_nccl_rows_hold_code():
    for row in TABLES.rows(NcclSupport):
        assert row.machine_code, row.version
        assert row.ptx_isa is None or TABLES.ptx_driver(row.ptx_isa) is not None
        for code in (*row.machine_code, *row.ptx):
            assert TABLES.compute_capability(code) is not None


def test_instances_name_gpus_that_are_there_and_match_their_own_name():
    for row in TABLES.rows(Instance):
        assert row.gpu in {gpu.name for gpu in TABLES.rows(Gpu)}, row.gpu
        re.compile(row.pattern)
        assert row.nvlink_generation is None or TABLES.nvlink(row.nvlink_generation) is not None


def test_plugins_and_their_distributions_are_both_there():
    names = {row.name for row in TABLES.rows(Distribution)}
    assert {row.name for row in TABLES.rows(Plugin)} <= names
    assert {row.plugin for row in TABLES.rows(OtherGpu)} <= names


def test_companions_need_a_tensorflow_that_exists():
    versions = [row.version for row in TABLES.releases()]
    lonely = [
        (row.name, row.version)
        for row in TABLES.rows(Companion)
        if row.tensorflow and not any(fits(version, row.tensorflow) for version in versions)
    ]
    assert all(Version(version) < Version("2.0") or name != "tensorflow-text" for name, version in lonely)


def test_defects_are_of_releases_that_exist():
    for row in TABLES.rows(TfDefect):
        assert any(fits(release.version, row.versions) for release in TABLES.releases())
        assert set(row.systems) <= {"linux", "windows", "macos"}


def test_open_ranges_that_break_a_release_have_a_pin():
    """NumPy 2 needs 2.18; protobuf 4 needs 2.12: a release before whose metadata accepts it has a known fault."""
    for release in TABLES.releases():
        pinned = {pin.partition("<")[0] for row in TABLES.defects(release.version) for pin in row.pins}
        for name, breaks, since in (("numpy", "2.0.2", "2.18"), ("protobuf", "4.21.12", "2.12")):
            accepts = any(fits(breaks, asked.range) for asked in release.requirement(name))
            early = Version(release.version) < Version(since)
            assert (name in pinned) == (accepts and early), (release.version, name)


def test_system_support_answers_once_for_every_release():
    for system, machine in (("linux", "x86_64"), ("linux", "aarch64"), ("windows", "x86_64"), ("wsl2", "x86_64")):
        for release in TABLES.releases():
            found = [
                row
                for row in TABLES.rows(SystemSupport)
                if (row.system, row.machine) == (system, machine) and fits(release.version, row.tensorflow)
            ]
            assert len(found) == 1


def test_windows_wheels_with_gpu_code_end_with_2_10():
    newest = next(
        row.version for row in TABLES.releases() if (p := row.platform("windows", "x86_64")) is not None and p.is_cuda
    )
    assert newest == "2.10.1"


def test_no_wheel_for_linux_aarch64_or_macos_holds_gpu_code():
    for row in TABLES.releases():
        for platform in row.platforms:
            assert not platform.is_cuda or platform.machine == "x86_64"
            assert not platform.is_cuda or platform.system != "macos"


def test_library_names_belong_to_components():
    for row in TABLES.rows(CudaLibraries):
        for component, name in row.sonames.items():
            assert name.startswith(f"lib{component}.so.")


def test_codes_are_unique_by_value_where_the_api_says_so():
    for api in ("cuda-driver", "cuda-runtime", "nccl", "nvml", "cublas", "cudnn8"):
        values = [row.value for row in TABLES.rows(ErrorCode) if row.api == api]
        assert len(values) == len(set(values))


def only_its_name(name: str, meaning: str) -> bool:
    """Whether a meaning says no more than the code's name: "mps connection failed", or nothing."""
    name, meaning = (re.sub(r"[^a-z0-9]", "", text.lower()) for text in (name, meaning))
    return name.endswith(meaning)


def test_a_name_spelt_out_is_no_meaning():
    assert only_its_name("CUDA_ERROR_MPS_CONNECTION_FAILED", "mps connection failed")
    assert only_its_name("cudaErrorMpsConnectionFailed", "MPS connection failed.")
    assert only_its_name("NVML_ERROR_IN_USE", "")
    assert not only_its_name("NVML_ERROR_IN_USE", "the GPU is in use")


def test_every_code_is_explained():
    unexplained = [row.name for row in TABLES.rows(ErrorCode) if only_its_name(row.name, row.meaning)]
    assert not unexplained, (
        "Write in compat/error_codes.json in plain words what has happened (meaning), and what somebody who runs "
        "TensorFlow can do or look at (advice, empty where there is nothing), then run scripts/build_tables_doc.py, "
        f"for: {', '.join(unexplained)}"
    )


def test_advice_on_a_code_is_more_than_its_meaning():
    """Both are clauses: a sentence of TFD241 is made of each."""
    for row in TABLES.rows(ErrorCode):
        assert row.advice != row.meaning, row
        assert not row.meaning.endswith(".") and not row.advice.endswith("."), row


def test_a_code_means_the_same_in_the_driver_and_in_the_runtime():
    driver, runtime = (
        {row.value: (row.meaning, row.advice) for row in TABLES.rows(ErrorCode) if row.api == api}
        for api in ("cuda-driver", "cuda-runtime")
    )
    assert not [value for value in driver.keys() & runtime.keys() if driver[value] != runtime[value]]


def test_xids_say_what_to_do_unless_they_are_unused():
    for row in TABLES.rows(Xid):
        assert row.severity in ("fatal", "error", "warning", "info")
        assert row.blame in ("application", "driver", "hardware", "link", "unknown")
        assert row.what


def test_limits_of_devices_are_plausible_and_of_gpus_that_are_there():
    for row in TABLES.rows(DeviceBaseline):
        assert row.gpu in {gpu.name for gpu in TABLES.rows(Gpu)}
        assert row.min_memory_bandwidth_gbs is None or 50 < row.min_memory_bandwidth_gbs < 10_000, row
        assert row.min_pcie_width in (None, 1, 4, 8, 16)


def test_every_column_is_read_by_some_rule_or_command(tmp_path):
    """In a copy with one more column, whose name is read of other rows: it is the only one that nothing reads."""
    package = shutil.copytree(
        REPOSITORY / "tfdoctor", tmp_path / "tfdoctor", ignore=shutil.ignore_patterns("__pycache__", "compat")
    )
    rows = package / "tables" / "hardware_rows.py"
    rows.write_text(rows.read_text().replace("    gt_per_s: float\n", "    gt_per_s: float\n    kind: str\n"))
    every = {column for kind, _ in FILES.values() for column in column_reads.columns(kind)}
    every.add("tfdoctor.tables.hardware_rows.PcieGeneration.kind")
    assert every - column_reads.read(package, tmp_path) == {"tfdoctor.tables.hardware_rows.PcieGeneration.kind"}


def test_the_page_of_the_tables_is_up_to_date():
    import subprocess
    import sys

    script = REPOSITORY / "scripts" / "build_tables_doc.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
