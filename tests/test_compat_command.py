"""The command: its JSON contract, exit codes, near matches, this machine."""

from __future__ import annotations

import json
import shutil
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdoctor.cli import main
from tfdoctor.fitting.asked import understand
from tfdoctor.model import BadInput
from tfdoctor.tables import Tables

TABLES = Tables()


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(["compat", *arguments])
    shown = capsys.readouterr()
    return int(end.value.code or 0), shown.out, shown.err


def test_json_keeps_its_contract(capsys):
    status, out, _ = run(capsys, "--gpu", "RTX 5090", "--driver", "570.86.10", "--python", "3.12", "--format", "json")
    answer = json.loads(out)
    assert status == 0
    assert answer["schema"] == 1
    assert answer["asked"]["gpu"] == "GeForce RTX 5090"
    assert answer["asked"]["compute_capability"] == "12.0"
    assert (answer["asked"]["os"], answer["asked"]["arch"]) == ("linux", "x86_64")
    versions = [row["tensorflow"] for row in answer["releases"]]
    assert versions == [row.version for row in TABLES.releases()]
    for row in answer["releases"]:
        assert set(row) == {"tensorflow", "fits", "because", "install"}
        assert row["fits"] in ("yes", "no", "unknown")
        assert row["because"] and all(set(reason) == {"says", "source"} for reason in row["because"])
    guess = next(row for row in answer["releases"] if row["tensorflow"] == "2.20.0")
    assert guess["fits"] == "unknown"
    assert guess["install"] == [["python", "-m", "pip", "install", "tensorflow[and-cuda]==2.20.0"]]


def test_text_begins_with_what_was_asked_and_the_best(capsys):
    status, out, err = run(capsys, "--gpu", "V100")
    assert status == 0 and err == ""
    assert out.startswith("NVIDIA V100 (compute capability 7.0) · linux x86_64 (assumed)")
    assert (
        "Best: TensorFlow 2.20.0\n    python -m pip install 'tensorflow[and-cuda]==2.20.0' 'nvidia-cudnn-cu12<9.11'"
        in out
    )


def test_nothing_that_fits_is_said(capsys):
    status, out, _ = run(capsys, "--gpu", "Jetson AGX Orin")
    assert status == 0
    assert "No release is known to fit." in out
    assert "no CUDA wheel for aarch64" in out


def test_why_not_gives_the_reasons_of_that_release_alone(capsys):
    status, out, _ = run(capsys, "--driver", "470.82.01", "--why-not", "2.15.1")
    assert status == 0
    assert "TensorFlow 2.15.1: does not fit" in out
    assert "Driver 470.82.01 is older than 525.60.13, which CUDA 12.2 needs." in out
    assert "2.14" not in out


def test_the_matrix_without_a_question(capsys):
    status, out, _ = run(capsys)
    assert status == 0
    line = next(line for line in out.splitlines() if line.startswith("2.21.0"))
    assert line.split() == [
        "2.21.0",
        "3.10-3.13",
        "12.5.1",
        "9.3.0",
        ">=525.60.13",
        "60",
        "70",
        "80",
        "89",
        "90+PTX",
        ">=2.27",
        "and-cuda",
    ]


def test_one_release_in_full(capsys):
    _, out, _ = run(capsys, "--tensorflow", "2.16")
    assert "TensorFlow 2.16.2: fits" in out and "TensorFlow 2.16.1: unknown" in out
    assert "CUDA: 12.3" in out and "cuDNN: 8.9.6" in out
    assert "released: 2024-06-28" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--gpu", "RTX 9090"], "GeForce RTX 5090"),
        (["--gpu", "4.2"], "nearest"),
        (["--gpu", "hopper"], "is an architecture; --gpu wants a GPU's name or one of its compute capabilities: 9.0"),
        (["--tensorflow", "2.99"], "newer than the tables, which end with 2.21.0"),
        (["--tensorflow", "1.99"], "; nearest: 2.0.0"),
        (["--tensorflow", "2.16.3"], "; nearest: 2.16.2, 2.17.0"),
        (["--tensorflow", "2.21.0rc1"], "; nearest: 2.20.0, 2.21.0"),
        (["--cuda", "12.7.1"], "; nearest: 12.6, 12.8"),
        (["--gpu", "titan x"], "NVIDIA TITAN X (Pascal)"),
        (["--why-not", "two"], "--tensorflow two is not a version such as 2.16"),
        (["--tensorflow", ""], "--tensorflow is empty: give it a value or leave it out."),
        (["--why-not", " "], "--why-not is empty"),
        (["--gpu", ""], "--gpu is empty"),
        (["--driver", "12.4"], "--driver 12.4 looks like a CUDA version"),
        (["--driver", "latest"], "--driver latest is not a driver version such as 535.183.01"),
        (["--cuda", "12.7"], "12.6"),
        (["--cuda", "99"], "no CUDA toolkit 99"),
        (["--python", "four"], "--python four is not a version such as 3.12"),
        (["--python", "3"], "not a Python version such as 3.12"),
        (["--glibc", "old"], "--glibc old is not a version"),
        (["--tensorflow", "2.16", "--why-not", "2.15"], "give one of them"),
    ],
)
def test_what_is_not_known_ends_with_2_and_one_sentence(capsys, arguments, says):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert says in err and len(err.strip().splitlines()) == 1


def test_a_broken_table_ends_with_2_and_names_it(capsys, monkeypatch, tmp_path):
    folder = shutil.copytree(TABLES.folder, tmp_path / "compat")
    (folder / "gpus.json").write_text("{")
    monkeypatch.setenv("TFDOCTOR_COMPAT_DIR", str(folder))
    status, _, err = run(capsys, "--gpu", "A100")
    assert status == 2
    assert "gpus.json is not valid JSON" in err


def test_an_unknown_system_is_a_usage_error(capsys):
    assert run(capsys, "--os", "beos")[0] == 2


def test_a_cloud_instance_names_its_gpu(capsys):
    _, out, _ = run(capsys, "--gpu", "p4d.24xlarge")
    assert out.startswith("NVIDIA A100 SXM4 40GB (compute capability 8.0)")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /etc of Linux")
def test_here_fills_in_what_is_not_given(capsys):
    status, out, _ = run(capsys, "--here", "--python", "3.8", "--format", "json")
    asked = json.loads(out)["asked"]
    assert status == 0
    assert asked["os"] in ("linux", "wsl2") and asked["assumed"] == []
    assert asked["python"] == "3.8"


@given(st.text(max_size=30))
def test_no_text_makes_a_question_fail_otherwise_than_with_a_sentence(text):
    for name in ("tensorflow", "python", "driver", "gpu", "cuda", "glibc"):
        try:
            understand(TABLES, **{name: text})
        except BadInput as wrong:
            assert str(wrong).endswith((".", "instead."))


def test_a_driver_newer_than_the_tables_is_said(capsys):
    assert "Driver 999 is of a branch newer than the tables" in run(capsys, "--driver", "999")[1]
    assert "Driver 550.54.14 is of branch 550" in run(capsys, "--driver", "550.54.14")[1]


def test_a_best_guess_is_said_to_be_one(capsys):
    out = run(capsys, "--gpu", "RTX 5090", "--driver", "570.86.10", "--python", "3.12")[1]
    assert "the best guess is TensorFlow 2.20.0" in " ".join(out.split())


def test_what_the_tables_say_of_a_gpu_is_shown(capsys):
    out = " ".join(run(capsys, "--gpu", "A100-SXM4-80GB")[1].split())
    assert "PCIe 4 x16 (16 GT/s, 31.5 GB/s per direction)" in out
    assert "at most 12 links of 25 GB/s per direction" in out
    assert "DCGM's diagnostic expects at least (PCI device 20b2): memory 1173 GB/s, PCIe generation 3, x16" in out
    out = " ".join(run(capsys, "--gpu", "Standard_ND96asr_v4")[1].split())
    assert "An operator's lower limits for it with 8 GPUs: host to GPU 21 GB/s" in out


def test_a_toolkit_tells_the_drivers_of_its_releases(capsys):
    out = " ".join(run(capsys, "--cuda", "12.5")[1].split())
    assert "12.5 GA with 555.42.02, 12.5 Update 1 with 555.42.06" in out
    out = " ".join(run(capsys, "--cuda", "12.5", "--os", "windows")[1].split())
    assert "runs on driver 527.41 and newer" in out and "12.5 Update 1 with 555.85" in out


def test_gpus_of_others_are_said_to_be_such(capsys):
    out = " ".join(run(capsys, "--gpu", "Apple M2")[1].split())
    assert "Apple: an Apple GPU has no CUDA" in out and "tensorflow-metal: the Metal device plug-in" in out


@pytest.mark.parametrize("value", ["9.0a", "sm_90a", "compute_90", "90", "sm_90"])
def test_code_for_one_compute_capability_alone_names_it(capsys, value):
    assert "compute capability 9.0" in run(capsys, "--gpu", value)[1].splitlines()[0]


def test_a_release_that_is_named_in_full_is_the_only_one(capsys):
    assert run(capsys, "--why-not", "2.15.0")[1].count("TensorFlow 2.15") == 1
    assert run(capsys, "--why-not", "2.15.0.post1")[1].count("TensorFlow 2.15") == 1
    assert run(capsys, "--why-not", "2.15")[1].count("TensorFlow 2.15") == 3


def test_a_laptop_gpu_is_not_shown_the_figures_of_its_namesake(capsys):
    out = run(capsys, "--gpu", "RTX 5090 Laptop")[1]
    assert out.startswith("RTX 5090 Laptop (compute capability 12.0)")
    assert "Dense rates" not in out and "GB/s" not in out


def test_the_version_that_windows_shows_for_a_driver_is_understood():
    assert understand(TABLES, driver="31.0.15.3713", system="windows").driver == "537.13"
    assert understand(TABLES, driver="32.0.15.6094", system="wsl2").driver == "560.94"


def test_own_rows_are_used_and_one_that_names_no_row_is_refused(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("TFDOCTOR_COMPAT_EXTRA", str(tmp_path))
    row = {**json.loads((TABLES.folder / "gpus.json").read_text())["rows"][0], "name": "GeForce RTX 9090"}
    for capability, says in (("12.0", 0), ("14.2", 2)):
        (tmp_path / "gpus.json").write_text(json.dumps({"rows": [{**row, "compute_capability": capability}]}))
        status, out, err = run(capsys, "--gpu", "rtx 9090")
        assert status == says
        assert "GeForce RTX 9090" in (out or err)
    assert "compute capability 14.2, which has no row in compute_capabilities.json" in err
