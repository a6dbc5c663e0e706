"""The loader: strict, lazy, and replaceable by a user's folder and rows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tfdoctor.model import BadInput
from tfdoctor.tables import FILES, TableError, Tables, driver_branch_of, fits, has_wheel
from tfdoctor.tables.gpu_code import runs_on
from tfdoctor.tables.hardware_rows import PcieGeneration
from tfdoctor.tables.tf_rows import TfRelease

REPOSITORY = Path(__file__).resolve().parent.parent
COMPAT = REPOSITORY / "compat"


def changed(tmp_path: Path, name: str, edit) -> Path:
    """A copy of one table after ``edit`` changed its first row."""
    table = json.loads((COMPAT / f"{name}.json").read_text())
    edit(table["rows"][0])
    (tmp_path / f"{name}.json").write_text(json.dumps(table))
    return tmp_path


def test_a_table_is_read_only_when_it_is_asked_for(tmp_path):
    shutil.copy(COMPAT / "pcie.json", tmp_path)
    (tmp_path / "tensorflow.json").write_text("not JSON")
    tables = Tables(tmp_path)
    assert tables.pcie(4) is not None
    with pytest.raises(TableError, match=r"tensorflow\.json is not valid JSON"):
        tables.releases()


def test_a_missing_key_names_file_row_and_key(tmp_path):
    folder = changed(tmp_path, "pcie", lambda row: row.pop("gt_per_s"))
    with pytest.raises(TableError, match=r'pcie\.json: row 1 lacks the key "gt_per_s"'):
        Tables(folder).pcie(1)


def test_an_unknown_key_names_file_row_and_key(tmp_path):
    folder = changed(tmp_path, "pcie", lambda row: row.update(lanes=16))
    with pytest.raises(TableError, match=r'pcie\.json: row 1 has an unknown key "lanes"'):
        Tables(folder).pcie(1)


@pytest.mark.parametrize(
    ("table", "key", "value", "wanted"),
    [
        ("pcie", "generation", "four", "a whole number"),
        ("pcie", "gt_per_s", True, "a number"),
        ("pcie", "checked", "yesterday", "a date like"),
        ("pcie", "grade", "certain", "one of official"),
        ("tf_defects", "versions", "2.16 or so", r"a version range \(PEP 440\)"),
        ("tf_defects", "systems", "linux", "must be a list"),
        ("ptx_isa", "cuda", "twelve", "a version"),
        ("cuda_libraries", "sonames", [], "must be an object"),
    ],
)
def test_a_wrong_value_names_file_row_and_key(tmp_path, table, key, value, wanted):
    folder = changed(tmp_path, table, lambda row: row.update({key: value}))
    with pytest.raises(TableError, match=wanted) as error:
        Tables(folder).rows(FILES[table][0])
    assert f"{table}.json: row" in str(error.value)
    assert f'key "{key}"' in str(error.value)


def test_a_wrong_value_inside_a_row_names_its_place(tmp_path):
    def edit(row):
        row["platforms"][0]["stub"] = "no"

    with pytest.raises(TableError, match=r'tensorflow\.json: row 2\.0\.0, key "platforms": key "stub"'):
        Tables(changed(tmp_path, "tensorflow", edit)).releases()


def test_the_same_row_twice_is_an_error(tmp_path):
    table = json.loads((COMPAT / "pcie.json").read_text())
    table["rows"].append(table["rows"][0])
    (tmp_path / "pcie.json").write_text(json.dumps(table))
    with pytest.raises(TableError, match="row 1 is there twice"):
        Tables(tmp_path).pcie(1)


@pytest.mark.parametrize("content", ["[]", '{"rows": 3}', '{"rows": [], "more": 1}', '{"rows": [3]}', "[" * 100_000])
def test_a_file_of_another_shape_is_an_error(tmp_path, content):
    (tmp_path / "pcie.json").write_text(content)
    with pytest.raises(TableError, match=r"pcie\.json"):
        Tables(tmp_path).rows(PcieGeneration)


def test_a_missing_table_is_an_error(tmp_path):
    with pytest.raises(TableError, match=r"pcie\.json is missing from"):
        Tables(tmp_path).pcie(1)


def test_a_folder_instead_of_a_table_is_an_error(tmp_path):
    (tmp_path / "pcie.json").mkdir()
    with pytest.raises(TableError, match=r"pcie\.json cannot be read"):
        Tables(tmp_path).pcie(1)


def test_a_broken_table_is_bad_input_so_that_the_command_ends_with_2():
    assert issubclass(TableError, BadInput)


def test_the_environment_names_the_folder(tmp_path):
    folder = changed(tmp_path, "pcie", lambda row: row.update(gt_per_s=99))
    assert Tables(environ={"TFDOCTOR_COMPAT_DIR": str(folder)}).pcie(1).gt_per_s == 99


@pytest.mark.parametrize("name", ["TFDOCTOR_COMPAT_DIR", "TFDOCTOR_COMPAT_EXTRA"])
def test_a_folder_that_is_none_is_an_error(tmp_path, name):
    with pytest.raises(TableError, match=f"{name} names .*missing, which is not a folder"):
        Tables(environ={name: str(tmp_path / "missing")})


def test_own_rows_are_added_and_take_the_place_of_ours(tmp_path):
    table = json.loads((COMPAT / "pcie.json").read_text())
    row = table["rows"][0]
    own = [{**row, "gt_per_s": 3.0}, {**row, "generation": 9}]
    (tmp_path / "pcie.json").write_text(json.dumps({"rows": own}))
    tables = Tables(environ={"TFDOCTOR_COMPAT_EXTRA": str(tmp_path)})
    assert tables.pcie(1).gt_per_s == 3.0
    assert tables.pcie(9) is not None
    assert tables.pcie(4).gbs(16) == pytest.approx(31.5, abs=0.05)
    assert tables.nvlink(4) is not None


def test_a_release_is_found_exactly_or_by_its_minor():
    tables = Tables()
    assert tables.release("2.16.1").version == "2.16.1"
    assert tables.release("2.16").version == "2.16.2"
    assert tables.release("2.16.9").version == "2.16.2"
    assert tables.release("2.15.0+nv24.01").version == "2.15.0"
    assert tables.release("2.20.0rc0").version == "2.20.0"
    assert tables.release("2.15.0.post1").version == "2.15.0.post1"
    for nothing in ("2", "99.0", "nonsense", ""):
        assert tables.release(nothing) is None


def test_a_release_newer_than_the_table_is_told():
    tables = Tables()
    newest = tables.releases()[0].version
    assert tables.newer_than_table("99.0")
    assert not tables.newer_than_table(newest)
    assert not tables.newer_than_table("nonsense")


def test_driver_floors():
    tables = Tables()
    assert tables.driver_floor("11.8").minimum == "450.80.02"
    assert tables.driver_floor("11.8").own == "520.61.05"
    assert tables.driver_floor("12.5.1").minimum == "525.60.13"
    assert tables.driver_floor("12.5.1", "windows").minimum == "527.41"
    assert tables.driver_floor("12.3", "wsl2").minimum == "527.41"
    assert tables.driver_floor("13.0").minimum == "580.65.06"
    assert tables.driver_floor("13.0", "windows") is None
    assert tables.driver_floor("10.1").minimum == "418.39"
    assert tables.driver_floor("10.1").own == "418.39"
    assert tables.driver_floor("77.1") is None


def test_driver_branches():
    tables = Tables()
    assert driver_branch_of("535.183.01") == 535
    assert driver_branch_of("R535") == 535
    assert driver_branch_of("31.0.15.5186") is None
    assert tables.driver_branch("535.183.01").cuda == "12.2"
    assert tables.driver_branch("537.13").branch == 535
    assert tables.driver_branch("none") is None
    assert tables.driver_for_cuda("12.8").branch == 570
    assert tables.forward_compat("12.8", "535.183.01").package == "cuda-compat-12-8"
    assert tables.forward_compat("12.2", "535.183.01") is None
    assert tables.ptx_driver("8.5").driver_branch == 555
    assert tables.ptx_driver("0.1") is None


def test_cudnn_support():
    tables = Tables()
    assert [row.min_compute_capability for row in tables.cudnn_support("9.28.0.42", "12.5")] == ["7.5"]
    assert [row.min_compute_capability for row in tables.cudnn_support("9.10.2.21", "12")] == ["5.0"]
    assert all(row.solid for row in tables.cudnn_support("9.28.0.42", "12"))
    assert [row.cuda_major for row in tables.cudnn_support("9.5.0")] == ["12", "11"]
    assert tables.cudnn_support("8.7.0.84", "11")[0].min_compute_capability == "3.5"
    assert tables.cudnn_support("1.0") == ()


def test_nccl_holds_code_for_blackwell_from_2_26_2_post1_on():
    tables = Tables()
    assert tables.nccl("2.26.2", "12").machine_code[-1] == "sm_90"
    assert tables.nccl_minimum("12.0").version == "2.26.2.post1"
    assert tables.nccl("2.21.5", "11").cuda_major == "11"
    assert tables.nccl("0.1") is None


def test_machine_code_runs_on_the_same_major_and_a_newer_minor():
    assert runs_on("8.6", ("sm_80",))
    assert not runs_on("8.0", ("sm_86",))
    assert not runs_on("9.0", ("sm_89", "sm_80"))
    assert runs_on("12.1", ("sm_120",))


@pytest.mark.parametrize(
    ("said", "name", "capability"),
    [
        ("NVIDIA A100-SXM4-40GB", "NVIDIA A100 SXM4 40GB", "8.0"),
        ("Tesla V100-SXM2-32GB", "NVIDIA V100 SXM2", "7.0"),
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM5 80GB", "9.0"),
        ("NVIDIA H200", "NVIDIA H200 SXM 141GB", "9.0"),
        ("NVIDIA Thor", "Jetson T5000", "11.0"),
        ("xavier nx", "Jetson Xavier NX", "7.2"),
        ("3090", "GeForce RTX 3090", "8.6"),
        ("NVIDIA RTX 6000 Ada Generation", "NVIDIA RTX 6000 Ada", "8.9"),
        ("Quadro RTX 6000", "Quadro RTX 6000", "7.5"),
        ("rtx5090", "GeForce RTX 5090", "12.0"),
        ("1080 ti", "GeForce GTX 1080 Ti", "6.1"),
        ("K80", "Tesla K80", "3.7"),
        ("NVIDIA GH200 480GB", "NVIDIA GH200 96GB HBM3", "9.0"),
        ("NVIDIA GH200 144G HBM3e", "NVIDIA GH200 144GB HBM3e", "9.0"),
        ("NVIDIA GB10", "NVIDIA GB10 (DGX Spark)", "12.1"),
        ("RTX 6000", "Quadro RTX 6000", "7.5"),
        ("Quadro 4000", "Quadro 4000", "2.0"),
        ("NVIDIA A10G", "NVIDIA A10G", "8.6"),
    ],
)
def test_a_gpu_is_found_by_the_names_it_goes_by(said, name, capability):
    row = Tables().gpu(said)
    assert (row.name, row.compute_capability) == (name, capability)


@pytest.mark.parametrize(
    ("said", "capability"),
    [
        ("NVIDIA GeForce RTX 4070 Ti SUPER", "8.9"),
        ("NVIDIA GeForce RTX 5090 Laptop GPU", "12.0"),
        ("NVIDIA GeForce RTX 4090 D", "8.9"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "8.0"),
        ("NVIDIA A100 80GB PCIe LC", "8.0"),
        ("RTX PRO 6000", "12.0"),
        ("5060 ti 16gb", "12.0"),
        ("4080 super", "8.9"),
        ("Orin (nvgpu)", "8.7"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "8.9"),
        ("NVIDIA A100-SXM4-80GB MIG 1g.10gb", "8.0"),
        ("GRID T4-8Q", "7.5"),
        ("GRID RTX6000-24Q", "7.5"),
        ("Quadro RTX 5000 with Max-Q Design", "7.5"),
        ("NVIDIA RTX PRO 2000 Blackwell Generation Laptop GPU", "12.0"),
        ("NVIDIA RTX 5000 Ada Generation Laptop GPU", "8.9"),
    ],
)
def test_a_variant_of_a_gpu_has_its_chip_and_none_of_its_figures(said, capability):
    row = Tables().gpu(said)
    assert (row.name, row.compute_capability) == (said, capability)
    figures = (row.fp16_tflops, row.memory_bandwidth_gbs, row.nvlink_gbs, row.pcie_lanes, row.memory_gb)
    assert figures == (None, None, None, None, ())


@pytest.mark.parametrize(
    "said",
    ["", "RTX 9090", "Radeon RX 7900", "TITAN", "Apple M2", "GeForce RTX 3070 Ti Ada", "☃", "Quadro 2000", "RTX 2000"],
)
def test_a_name_that_is_no_gpu_of_the_table_finds_none(said):
    assert Tables().gpu(said) is None


def test_near_names():
    assert "GeForce RTX 5090" in Tables().gpu_near("RTX 9090")


def test_compute_capabilities_are_found_in_every_spelling():
    tables = Tables()
    for text in ("8.6", "sm_86", "compute_86", "86"):
        assert tables.compute_capability(text).compute_capability == "8.6"
    assert tables.compute_capability("sm_120").compute_capability == "12.0"
    assert tables.compute_capability("4.2") is None
    assert tables.compute_capability("x") is None


def test_codes_and_xids():
    tables = Tables()
    assert tables.error("CUDA_ERROR_NO_DEVICE").value == 100
    assert tables.error("100", "cuda-driver").name == "CUDA_ERROR_NO_DEVICE"
    assert tables.error("35", "cuda-runtime").name == "cudaErrorInsufficientDriver"
    assert tables.error("9", "nvml").name == "NVML_ERROR_DRIVER_NOT_LOADED"
    assert tables.error("100") is None
    assert tables.xid(79).severity == "fatal"
    assert tables.xid(9999) is None


def test_companions():
    tables = Tables()
    assert fits("2.16.2", tables.companion("tensorflow-text", "2.16.1").tensorflow)
    assert not fits("2.20.0", tables.companion("tensorflow_text", "2.16.1").tensorflow)
    assert tables.companion_for("tf-keras", "2.20.0").version.startswith("2.20.")
    assert tables.companion_for("tensorflow-text", "1.0") is None
    assert tables.companions("numpy") == ()
    # tensorflow-text 2.18.1 has wheels up to Python 3.12.
    assert tables.companion_for("tensorflow-text", "2.18.1", "3.11.4").version.startswith("2.18.")
    assert tables.companion_for("tensorflow-text", "2.18.1", "3.13") is None
    assert tables.companion_for("tf-keras", "2.20.0", "3.13").version.startswith("2.20.")


def test_operators_limits_are_found_by_the_names_in_use():
    tables = Tables()
    assert tables.node_baseline("Standard_ND96asr_v4").gpus == 8
    (limits,) = tables.device_baselines("NVIDIA A100 SXM4 80GB")
    assert limits.pci_device_id == "20b2" and not limits.solid
    assert tables.device_baselines("GeForce RTX 5090") == ()
    assert tables.instance("p4d.24xlarge").gpu_counts == (8,)
    assert tables.instance("p6e-gb200.36xlarge").gpu_counts == (4,)
    assert tables.instance("Standard_ND96isr_H200_v5").gpu == "NVIDIA H200 SXM 141GB"
    assert tables.instance("m5.large") is None


def test_a_threshold_that_is_missing_is_an_error():
    with pytest.raises(TableError, match=r'thresholds\.json has no row "no-such-limit"'):
        Tables().threshold("no-such-limit")


def test_fits_never_raises_on_a_version():
    assert fits("2.16.1", ">=2.16,<2.17")
    assert fits("2.16.1rc0", ">=2.15,<2.17")
    assert not fits("rubbish", ">=2.16")
    assert fits("1", "")


def test_jit_isa_looks_at_every_fat_binary():
    release = Tables().release("2.21.0")
    assert isinstance(release, TfRelease)
    assert release.jit_isa("8.6") is None
    assert release.jit_isa("9.0") == "8.5"
    assert release.jit_isa("12.0") == "8.5"
    assert release.jit_isa("3.5") is None
    assert release.ptx_isa == "8.5"


def test_a_wheel_tag_goes_with_its_python():
    assert has_wheel(("cp39", "cp311"), "3.11.4") and has_wheel(("py2", "py3"), "3.13")
    assert not has_wheel(("cp39", "cp311"), "3.1") and not has_wheel(("cp311",), "3")


def test_cudnn_is_found_for_the_toolkit_it_was_built_with():
    tables = Tables()
    assert [row.cuda_major for row in tables.cudnn_support("9.3.0.75")] == ["12", "11"]
    (row,) = tables.cudnn_support("7.6.3", "10.1")
    assert row.cuda == ">=10.0,<10.2" and tables.cudnn_support("7.6.3", "10.2") == ()
    assert tables.cudnn_support("7.6.5", "10.2") and tables.cudnn_support("8.0.5", "11.0")
    (row,) = tables.cudnn_support("9.28.0.42", "12.5.1")
    assert row.has_code_for("7.5") and row.has_code_for("8.9") and row.has_code_for("12.1")
    assert not row.has_code_for("7.0")
