"""Whether there is an NVIDIA GPU at all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import trees
from observed import live, recorded

from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.gpu_machine import GpuMachine

pytestmark = [
    pytest.mark.usefixtures("bare"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files"),
]


def test_gpu_on_the_bus(tmp_path):
    found = live(tmp_path).get(GpuMachine)
    assert (found.count, found.evidence) == (1, f"{trees.CARD} on the PCI bus")


NO_CARD = {
    "/proc/driver": None,
    f"{trees.PCI}/{trees.PORT}/{trees.CARD}": None,
    "/dev/nvidia0": None,
    "/dev/nvidiactl": None,
    "/dev/nvidia-uvm": None,
}


@pytest.fixture
def no_nvml(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A libnvidia-ml.so.1 that is no library, wherever the machine that runs the tests has a real one."""
    (tmp_path / "libnvidia-ml.so.1").write_text("not a library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))


@pytest.mark.usefixtures("no_nvml")
def test_no_gpu_only_when_the_bus_was_seen(tmp_path):
    with pytest.raises(NotApplicable):
        live(tmp_path / "a", NO_CARD).get(GpuMachine)
    hidden = {**NO_CARD, "/sys/bus": None, "/sys/devices": None}
    with pytest.raises(Unavailable):
        live(tmp_path / "b", hidden).get(GpuMachine)


@pytest.mark.usefixtures("no_nvml")
def test_other_signs_of_a_gpu(tmp_path):
    hidden = {**NO_CARD, "/sys/bus": None, "/sys/devices": None}
    nodes = {**hidden, "/dev/nvidia0": ""}
    assert live(tmp_path / "a", nodes).get(GpuMachine).evidence == "/dev/nvidia0"
    folders = {path: change for path, change in hidden.items() if path != "/proc/driver"}
    assert live(tmp_path / "b", folders).get(GpuMachine).count == 1


def test_stale_node_beside_a_visible_bus_is_no_gpu(tmp_path, no_nvml):
    with pytest.raises(NotApplicable):
        live(tmp_path, {**NO_CARD, "/dev/nvidia0": ""}).get(GpuMachine)


LOADED = "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.65.06  Release Build\n"


@pytest.mark.parametrize(
    ("files", "evidence"),
    [
        ({"dmesg.txt": "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"}, "0000:3b:00 fell off the bus"),
        ({"dmesg.txt": "NVRM: GPU at 0000:3b:00.0 has fallen off the bus.\n"}, "a GPU fell off the bus"),
        ({"dmesg.txt": "NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=python\n"}, "NVIDIA's driver reports on 0000:3b:00"),
        ({"root/proc/driver/nvidia/version": LOADED}, "NVIDIA's driver 580.65.06 is loaded"),
        ({"nvidia-smi.txt": "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.\n"}, "the driver has lost a GPU"),
        ({"nvidia-smi.txt": "Unable to determine the device handle for GPU 0000:0A:00.0: Unknown Error\n"}, "nvidia-smi names the GPU at 0000:0a:00.0"),
    ],
)  # fmt: skip
def test_few_files_show_a_gpu_too(tmp_path, files, evidence):
    found = recorded(tmp_path, files).get(GpuMachine)
    assert (found.evidence, found.count) == (evidence, None)


def test_a_loaded_driver_is_no_gpu_where_the_bus_shows_none(tmp_path):
    """Virtual machines that only serve NVSwitches, a card that was unplugged."""
    bus = {
        f"root/sys/bus/pci/devices/0000:00:02.0/{n}": v
        for n, v in (("class", "0x030000"), ("vendor", "0x8086"), ("device", "0x4680"))
    }
    with pytest.raises(NotApplicable):
        recorded(tmp_path, {**bus, "root/proc/driver/nvidia/version": LOADED}).get(GpuMachine)
