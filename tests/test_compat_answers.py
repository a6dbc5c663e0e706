"""Worked answers: each was checked by hand against the documents and wheels that the rows name."""

from __future__ import annotations

import json
import shutil

import pytest

from tfdoctor.fitting.answer import Fit, answer, best, perhaps
from tfdoctor.fitting.asked import understand
from tfdoctor.model import BadInput
from tfdoctor.tables import Tables

TABLES = Tables()


def ask(**said: str) -> dict[str, Fit]:
    return {fit.release.version: fit for fit in answer(TABLES, understand(TABLES, **said))}


def the_best(**said: str) -> Fit:
    found = best(answer(TABLES, understand(TABLES, **said)))
    assert found is not None
    return found


def text(fit: Fit) -> str:
    return " ".join(reason.text for reason in fit.because)


def test_rtx_5090_with_driver_570_and_python_3_12():
    """Nobody can promise it: CUDA 12.8 is the first that knows the GPU, and no wheel was built with it."""
    fits = ask(gpu="RTX 5090", driver="570.86.10", python="3.12")
    assert {fit.fits for fit in fits.values()} == {"unknown", "no"}
    for version in ("2.16.2", "2.17.1", "2.18.1", "2.19.1", "2.20.0", "2.21.0"):
        (reason,) = (r for r in fits[version].because if "CUDA_ERROR_INVALID_PTX" in r.text)
        assert "12.8 is the first" in reason.text and "99592" in reason.source
    guess = perhaps(tuple(fits.values()))
    assert guess is not None and guess.release.version == "2.20.0"
    assert guess.install == (("python", "-m", "pip", "install", "tensorflow[and-cuda]==2.20.0"),)
    assert "compiled by the driver at first use from PTX 8.5" in text(fits["2.20.0"])
    assert "nvidia/cusolver" in text(fits["2.21.0"])
    # Their pinned CUDA 12.5 and cuDNN 9.3 are older than the GPU.
    assert "older than 12.8" in text(fits["2.19.1"])
    assert fits["2.15.1"].fits == "no" and "Python 3.12" in text(fits["2.15.1"])


@pytest.mark.parametrize("gpu", ["B200", "10.0", "12.1", "RTX 5080"])
def test_no_release_is_promised_to_other_new_gpus(gpu):
    assert {fit.fits for fit in ask(gpu=gpu).values()} <= {"unknown", "no"}


def test_tensorflow_2_14_on_python_3_11_goes_without_the_extra():
    fit = ask(gpu="RTX 3090", driver="470", python="3.11")["2.14.1"]
    assert fit.fits == "yes" and fit.install[0][-1] == "tensorflow==2.14.1"
    assert "tensorrt 8.5.3.1" in text(fit) and "must be on the system" in text(fit)
    older = ask(gpu="RTX 3090", driver="470", python="3.10")["2.14.1"]
    assert older.install[0][-1] == "tensorflow[and-cuda]==2.14.1" and "8.5.3.1, which" not in text(older)


@pytest.mark.parametrize(("value", "near"), [("99.9", "12.0, 12.1"), ("1.0", "2.0, 3.0"), ("sm_91", "8.9, 9.0")])
def test_the_nearest_compute_capabilities_are_nearest_as_numbers(value, near):
    with pytest.raises(BadInput, match="nearest: .*" + near):
        ask(gpu=value)


def test_rtx_5090_with_a_driver_that_does_not_know_it():
    fits = ask(gpu="RTX 5090", driver="535.183.01")
    assert {fit.fits for fit in fits.values()} == {"no"}
    assert "does not know" in text(fits["2.20.0"]) and "570" in text(fits["2.20.0"])


def test_the_driver_branch_just_before_the_first_is_left_open():
    assert ask(gpu="RTX 5090", driver="565.77")["2.20.0"].fits == "unknown"
    assert ask(gpu="RTX 5090", driver="560.35.03")["2.20.0"].fits == "no"


def test_a_windows_driver_is_held_against_the_drivers_for_windows():
    assert ask(gpu="RTX 5090", system="wsl2", driver="572.16")["2.20.0"].fits == "unknown"
    assert ask(gpu="RTX 5090", system="wsl2", driver="537.13")["2.20.0"].fits == "no"
    fits = ask(gpu="H100", system="wsl2", driver="537.13")
    assert fits["2.20.0"].fits == "unknown" and "555.85" in text(fits["2.20.0"])


def test_v100_with_the_newest_tensorflow_needs_an_older_cudnn():
    fits = ask(gpu="V100")
    assert fits["2.20.0"].fits == "yes"
    assert fits["2.20.0"].install[0][-2:] == ("tensorflow[and-cuda]==2.20.0", "nvidia-cudnn-cu12<9.11")
    assert "9.11" in text(fits["2.21.0"])
    assert "nvidia-cudnn-cu12<9.11" in fits["2.21.0"].install[0]
    # 2.19 pins 9.3.0.75, which still has code for it.
    assert fits["2.19.1"].fits == "yes"
    assert fits["2.19.1"].install[0][-1] == "tensorflow[and-cuda]==2.19.1"


@pytest.mark.parametrize("gpu", ["Tesla P100-PCIE-16GB", "GTX 1080 Ti", "6.0"])
def test_pascal_needs_the_same_pin(gpu):
    assert "nvidia-cudnn-cu12<9.11" in the_best(gpu=gpu).install[0]


def test_t4_needs_no_pin():
    assert the_best(gpu="T4").install[0][-1] == "tensorflow[and-cuda]==2.20.0"


def test_gtx_1080_on_native_windows():
    found = the_best(gpu="GTX 1080", system="windows")
    assert found.release.version == "2.10.1"
    assert "CUDA 11.2 and cuDNN 8.1 must be on the system" in text(found)
    assert found.install == (("python", "-m", "pip", "install", "tensorflow==2.10.1", "numpy<2"),)
    fits = ask(gpu="GTX 1080", system="windows", python="3.11")
    assert all(fit.fits == "no" for fit in fits.values())
    assert "the newest it has is 3.10" in text(fits["2.10.1"])
    assert "WSL 2" in text(fits["2.20.0"])
    assert the_best(gpu="GTX 1080", system="windows", python="3.10").release.version == "2.10.1"


def test_the_same_card_under_wsl_2():
    found = the_best(gpu="GTX 1080", system="wsl2", driver="537.13")
    assert found.release.version == "2.20.0"
    assert "527.41" in text(found)
    assert ask(system="wsl2", driver="516.94")["2.20.0"].fits == "no"


def test_k80():
    found = the_best(gpu="K80", driver="470.82.01")
    assert found.release.version == "2.14.1"
    fits = ask(gpu="K80")
    assert "no code for Tesla K80 (compute capability 3.7)" in text(fits["2.15.1"])
    assert fits["2.20.0"].fits == "no"


@pytest.mark.parametrize("gpu", ["GH200", "Jetson AGX Orin", "NVIDIA GB10"])
def test_no_wheel_with_gpu_code_for_arm(gpu):
    fits = ask(gpu=gpu)
    assert {fit.fits for fit in fits.values()} == {"no"}
    assert "no CUDA wheel for aarch64" in text(fits["2.20.0"])
    assert "container" in text(fits["2.20.0"])


def test_an_arm_server_with_an_ordinary_card():
    assert {fit.fits for fit in ask(gpu="A100", machine="aarch64").values()} == {"no"}


def test_apple_m2():
    found = the_best(gpu="Apple M2")
    assert found.release.version == "2.19.1"
    assert found.install == (("python", "-m", "pip", "install", "tensorflow==2.19.1", "tensorflow-metal==1.2.0"),)
    # 1.1.0 binds a symbol that the wheels from 2.18 on do not export.
    assert ask(gpu="Apple M2")["2.17.1"].install[0][-1] == "tensorflow-metal==1.1.0"
    assert ask(gpu="M2 Pro")["2.20.0"].fits == "no"
    assert {fit.fits for fit in ask(system="macos", machine="x86_64").values()} == {"no"}


@pytest.mark.parametrize(
    ("python", "version", "packages"),
    [
        ("3.8", "2.12.0", ("tensorflow-macos==2.12.0", "tensorflow-metal==0.8.0")),
        ("3.10", "2.9.2", ("tensorflow-macos==2.9.2", "tensorflow-metal==0.5.1", "numpy<2")),
        ("3.9", "2.8.0", ("tensorflow-macos==2.8.0", "tensorflow-metal==0.4.0", "numpy<2", "protobuf<3.21")),
        ("3.8", "2.13.1", ("tensorflow==2.13.1", "tensorflow-metal==1.0.1")),
    ],
)
def test_apple_silicon_before_2_13_has_a_distribution_of_its_own(python, version, packages):
    fit = ask(system="macos", machine="aarch64", python=python)[version]
    assert fit.fits == "yes" and fit.install[0][4:] == packages


def test_apple_silicon_has_no_wheels_of_releases_that_apple_did_not_build():
    fits = ask(gpu="Apple M1", python="3.9")
    assert "no wheels for macos aarch64" in text(fits["2.12.1"]) and "no wheels" in text(fits["2.4.4"])
    assert "tensorflow-metal 0.4.0, which goes with it, has no wheel for Python 3.10: it has 3.8, 3.9" in text(
        ask(gpu="Apple M1", python="3.10")["2.8.0"]
    )
    assert text(ask(gpu="Apple M1", system="linux")["2.18.1"]) == "tensorflow-metal is for macos."


def test_a_second_hand_row_alone_is_no_reason_for_a_no(tmp_path):
    folder = shutil.copytree(TABLES.folder, tmp_path / "compat")
    for name in ("plugins", "distributions"):
        path = folder / f"{name}.json"
        data = json.loads(path.read_text("utf-8"))
        for row in data["rows"]:
            if row["name"] == "tensorflow-metal":
                row["grade"] = "second-hand"
        path.write_text(json.dumps(data), "utf-8")
    tables = Tables(folder)
    fits = {fit.release.version: fit for fit in answer(tables, understand(tables, gpu="Apple M2"))}
    assert fits["2.20.0"].fits == "unknown" and "No release of tensorflow-metal" in text(fits["2.20.0"])
    on_linux = answer(tables, understand(tables, gpu="Apple M2", system="linux"))
    assert {fit.fits for fit in on_linux} == {"unknown"}
    assert ask(gpu="Apple M2")["2.20.0"].fits == "no"


@pytest.mark.parametrize(
    ("said", "capability", "best_one"),
    [
        ({"gpu": "NVIDIA GeForce RTX 4090 Laptop GPU", "driver": "560.35.03"}, "8.9", "2.20.0"),
        ({"gpu": "Tesla V100-SXM2-16GB", "driver": "535.183.01"}, "7.0", "2.20.0"),
        ({"gpu": "NVIDIA A100-SXM4-80GB MIG 1g.10gb", "driver": "525.60.13"}, "8.0", "2.20.0"),
        ({"gpu": "GRID T4-8Q"}, "7.5", "2.20.0"),
        ({"gpu": "NVIDIA GH200 480GB"}, "9.0", None),
        ({"gpu": "Quadro 6000"}, "2.0", None),
        ({"gpu": "NVIDIA H200", "driver": "620.70.06"}, "9.0", "2.20.0"),
        ({"gpu": "g5g.xlarge"}, "7.5", None),
        ({"python": "3.14"}, None, None),
    ],
)
def test_names_as_tools_print_them(said, capability, best_one):
    asked = understand(TABLES, **said)
    assert (asked.capability and asked.capability.compute_capability) == capability
    found = best(answer(TABLES, asked))
    assert (found and found.release.version) == best_one


def test_several_gpus_need_code_in_nccl_too():
    """2.21 installs the newest NCCL, which has code for it; NCCL 2.25.1 inside 2.20 has not, by its wheel."""
    old, new = ask(gpu="RTX 5090")["2.19.1"], ask(gpu="RTX 5090")["2.21.0"]
    assert "NCCL 2.23.4 has no machine code for GeForce RTX 5090" in text(old)
    assert "NCCL" not in text(new) and "NCCL" not in text(ask(gpu="A100")["2.19.1"])


def test_amd_and_intel_are_named_a_build_and_nothing_is_promised():
    fits = ask(gpu="Radeon RX 7900 XTX")
    assert fits["2.14.1"].fits == "unknown" and "not in the tables" in text(fits["2.14.1"])
    assert fits["2.14.1"].install[0][-1].startswith("tensorflow-rocm==2.14.0")
    assert fits["2.20.0"].fits == "no" and "ROCm documentation" in text(fits["2.20.0"])
    fits = ask(gpu="Intel Arc A770")
    assert fits["2.15.1"].install[0][-1].startswith("intel-extension-for-tensorflow==2.15.0")
    assert ask(gpu="Intel Arc A770", system="wsl2")["2.15.1"].install == fits["2.15.1"].install


@pytest.mark.parametrize("gpu", ["Radeon RX 7900 XTX", "Intel Arc A770"])
def test_other_gpus_on_native_windows_go_through_directml(gpu):
    fits = ask(gpu=gpu, system="windows", python="3.10")
    packages = ("tensorflow-cpu==2.10.0", "tensorflow-directml-plugin==0.4.0.dev230202", "numpy<2")
    assert fits["2.10.0"].fits == "unknown" and fits["2.10.0"].install[0][4:] == packages
    assert fits["2.20.0"].fits == "no" and "It has ended" in text(fits["2.20.0"])


def test_python_3_13():
    fits = ask(python="3.13")
    assert the_best(python="3.13").release.version == "2.20.0"
    assert [version for version, fit in fits.items() if fit.fits != "no"] == ["2.21.0", "2.20.0"]


def test_python_3_8():
    assert the_best(python="3.8").release.version == "2.13.1"
    assert ask(python="3.8")["2.14.0"].fits == "no"


def test_a_python_that_no_release_knows():
    assert {fit.fits for fit in ask(python="3.15").values()} == {"no"}


def test_driver_450_80_02():
    found = the_best(driver="450.80.02")
    assert found.release.version == "2.14.1"
    fits = ask(driver="450.80.02")
    assert fits["2.15.1"].fits == "no" and "525.60.13" in text(fits["2.15.1"])
    assert ask(driver="450.51.06")["2.14.1"].fits == "no"


def test_driver_520():
    assert the_best(driver="520.61.05").release.version == "2.14.1"
    assert the_best(driver="520").release.version == "2.14.1"
    assert the_best(driver="525").release.version == "2.20.0"


def test_a_newer_driver_is_never_too_new():
    assert the_best(driver="615.71.09").release.version == "2.20.0"


def test_centos_7():
    fits = ask(glibc="2.17")
    assert the_best(glibc="2.17").release.version == "2.20.0"
    assert fits["2.21.0"].fits == "no" and "glibc 2.17; the wheel needs 2.27" in text(fits["2.21.0"])
    assert {fit.fits for fit in ask(glibc="2.5").values()} == {"no"}


def test_a_machine_with_cuda_13_only():
    fits = ask(cuda="13.0")
    assert {fit.fits for fit in fits.values()} == {"no"}
    assert "needs the libraries of CUDA 12.5, and the toolkit is CUDA 13.0" in text(fits["2.21.0"])
    assert "tensorflow[and-cuda]" in text(fits["2.21.0"])


def test_a_fixed_toolkit():
    fits = ask(cuda="11.8")
    assert the_best(cuda="11.8").release.version == "2.14.1"
    assert the_best(cuda="11.8").install[0][-1] == "tensorflow==2.14.1"
    assert fits["2.10.1"].fits == "yes"
    # The wheels of 2.2 do not say what they were built for; their libraries hold PTX for 7.0.
    assert ask(gpu="A100")["2.2.3"].fits == "unknown" and "no code" not in text(ask(gpu="A100")["2.2.3"])
    assert ask(gpu="V100")["2.2.3"].fits == "yes"
    # 2.4 was built with CUDA 11.0, whose cuSOLVER has another name.
    assert fits["2.4.4"].fits == "no" and "libcusolver.so.10" in text(fits["2.4.4"])
    assert fits["2.15.1"].fits == "no"
    # The libraries are found through the system's paths: the faulty RUNPATH does not matter.
    assert ask(cuda="12.5")["2.21.0"].fits == "yes"
    assert ask(cuda="12.2")["2.20.0"].fits == "unknown"


def test_h100_with_driver_525():
    fits = ask(gpu="H100", driver="525.125.06")
    assert fits["2.21.0"].fits == "unknown" and fits["2.20.0"].fits == "unknown"
    assert "PTX 8.5, and driver 525.125.06 is older than 555" in text(fits["2.20.0"])
    # 2.16 carries PTX 8.0 for the kernels without machine code for it.
    assert the_best(gpu="H100", driver="525.125.06").release.version == "2.16.2"
    # An A100 runs the machine code for 8.0 and needs no compiling.
    assert the_best(gpu="A100", driver="525.125.06").release.version == "2.20.0"


def test_forward_compatibility_is_named_where_it_would_help():
    fits = ask(gpu="V100", driver="450.80.02")
    assert "cuda-compat" not in text(fits["2.20.0"])
    assert fits["2.20.0"].fits == "no"


def test_a_gpu_that_the_driver_no_longer_supports_is_open_because_that_is_second_hand():
    fits = ask(gpu="GTX 1080", driver="590.48.01")
    assert fits["2.20.0"].fits == "unknown" and "580" in text(fits["2.20.0"])


def test_defective_releases_are_not_promised():
    fits = ask()
    assert fits["2.16.1"].fits == "unknown" and fits["2.16.2"].fits == "yes"
    assert fits["2.15.0"].fits == "unknown" and fits["2.15.1"].fits == "yes"
    assert fits["2.21.0"].fits == "unknown" and fits["2.20.0"].fits == "yes"


def test_tensorflow_2_0_is_installed_as_tensorflow_gpu():
    assert ask(python="3.7")["2.0.4"].install[0][4:] == ("tensorflow-gpu==2.0.4", "protobuf<3.21")


def test_every_answer_has_reasons_with_sources():
    for fit in ask(gpu="RTX 3090", driver="535.183.01", python="3.10").values():
        assert fit.because
        assert all(reason.source and reason.text for reason in fit.because)
        assert (fit.install == ()) == (fit.fits == "no")


def test_a_fixed_toolkit_does_not_bring_cudnn():
    asked = {"gpu": "T4", "cuda": "11.8", "python": "3.10", "driver": "535.183.01"}
    assert the_best(**asked).release.version == "2.14.1"
    assert "cuDNN 8.7 is wanted beside the toolkit" in text(the_best(**asked))
