"""What starting CUDA came to decides the verdict of a whole machine, where NVML alone would say yes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fake_cuda
import fake_nvml
import pytest
import whole_machine

NOTHING: Mapping[str, str] = {}


def verdict(report: dict[str, Any]) -> tuple[str, str | None]:
    return report["verdict"]["gpu"], report["verdict"]["because"]


def folded(report: dict[str, Any]) -> dict[str, str | None]:
    return {d["name"]: d["folded_under"] for d in report["diagnoses"]}


@pytest.mark.parametrize(
    ("code", "because"),
    [
        (3, "driver-uvm-hmm-failure"),
        (34, "driver-library-hidden-by-stub"),
        (46, "cuda-does-not-start"),
        (100, "cuda-does-not-start"),
        (802, "cuda-does-not-start"),
        (803, "driver-library-kernel-mismatch"),
        (804, "cuda-compat-unsupported-gpu"),
        (999, "cuda-does-not-start"),
    ],
)
def test_the_code_of_cuinit(tmp_path: Path, code: int, because: str) -> None:
    report = whole_machine.build(tmp_path, cuda=fake_cuda.profile(init=code)).check()
    assert verdict(report) == ("no", because)
    assert report["crashed"] == []


def test_no_uvm_node(tmp_path: Path) -> None:
    machine = whole_machine.build(tmp_path, tree={"/dev/nvidia-uvm": None}, cuda=fake_cuda.profile(init=999))
    report = machine.check()
    assert verdict(report) == ("no", "nvidia-uvm-device-missing")
    assert folded(report)["cuda-does-not-start"] == "TFD216"


def test_no_uvm_node_and_cuda_starts(tmp_path: Path) -> None:
    """Something made the node for CUDA and the tree does not show it: nothing to say."""
    assert verdict(whole_machine.build(tmp_path, tree={"/dev/nvidia-uvm": None}).check())[0] == "yes"


@pytest.mark.parametrize("value", ["", "-1", "7,0", "none"])
def test_hidden_gpus(tmp_path: Path, value: str) -> None:
    report = whole_machine.build(tmp_path).check(CUDA_VISIBLE_DEVICES=value)
    assert verdict(report) == ("no", "cuda-visible-devices-hidden")
    assert "cuda-does-not-start" not in folded(report)


def test_one_of_two_is_lost_and_cuda_starts_with_the_other(tmp_path: Path) -> None:
    pair = fake_nvml.system([fake_nvml.card_1080(0), fake_nvml.card_1080(1, lost=1)])
    report = whole_machine.build(tmp_path, nvml=pair, cuda=fake_cuda.profile(count=1)).check()
    assert verdict(report)[0] == "yes", report["verdict"]
    assert folded(report)["gpu-off-bus"] is None


def test_one_of_two_is_lost_and_cuda_does_not_start(tmp_path: Path) -> None:
    report = whole_machine.build(tmp_path, nvml=fake_nvml.lost_gpu(), cuda=fake_cuda.profile(init=999)).check()
    assert verdict(report) == ("no", "gpu-off-bus")


def without_nvml(folder: Path, variables: Mapping[str, str] = NOTHING, **changes: Any) -> dict[str, Any]:
    """The report of a machine as a container is that was given the driver's CUDA part alone: with one GTX 1080, which the
    stand-in build serves, or as `changes` say."""
    cuda = fake_cuda.profile(name="NVIDIA GeForce GTX 1080", compute_capability="6.1", count=2)
    machine = whole_machine.build(folder, cuda=cuda.but({"count": 1, **changes}))
    folders = machine.variables["LD_LIBRARY_PATH"].split(":")
    kept = [place for place in folders if not list(Path(place).glob("libnvidia-ml.so*"))]
    machine.variables["LD_LIBRARY_PATH"] = ":".join(kept)
    report = machine.check(**variables)
    if report["facts"]["nvml"]["state"] != "library-missing":
        pytest.skip("this machine has an NVML of its own")
    return report


def test_cuda_starts_without_nvml(tmp_path: Path) -> None:
    """TensorFlow 2.20 asks CUDA alone."""
    report = without_nvml(tmp_path)
    assert verdict(report) == ("yes", None), report["verdict"]
    assert "use NVIDIA GeForce GTX 1080." in report["verdict"]["summary"]
    assert report["facts"]["gpus"]["source"] == "cuInit"
    assert report["facts"]["driver"]["cuda"] == "12.4"


@pytest.mark.parametrize(
    ("key", "value", "because"),
    [
        ("gpu.0.compute_capability", "3.0", "gpu-compute-capability-too-low"),
        ("gpu.0.compute_mode", 2, "compute-mode-exclusive"),
        ("init", 999, "cuda-does-not-start"),
    ],
)
def test_what_cuda_alone_tells_against_it(tmp_path: Path, key: str, value: Any, because: str) -> None:
    assert verdict(without_nvml(tmp_path, **{key: value})) == ("no", because)


def test_cuda_has_chosen_among_the_gpus_already(tmp_path: Path) -> None:
    """CUDA_VISIBLE_DEVICES is not applied a second time to what CUDA counts."""
    report = without_nvml(tmp_path, {"CUDA_VISIBLE_DEVICES": "1"}, count=2)
    assert verdict(report) == ("yes", None), report["verdict"]
    assert "cuda-visible-devices-hidden" not in folded(report)
    assert "use NVIDIA GeForce GTX 1080." in report["verdict"]["summary"]
