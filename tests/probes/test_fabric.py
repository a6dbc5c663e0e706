"""NVSwitches and the fabric manager."""

from __future__ import annotations

from pathlib import Path

import pytest
from nvidia_stand_ins import Machine

from tfdoctor.host import LiveHost, RecordedHost
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.fabric import Fabric, fabric
from tfdoctor.probes.kernel_driver import InstalledDriver
from tfdoctor.probes.nvml import Gpu, Gpus, NvLink
from tfdoctor.probes.pci import Pci, PciDevice
from tfdoctor.probes.surroundings import Container

SWITCHES = Pci(tuple(PciDevice(f"0000:c{i}:00.0", "10de", "22a3", "0680") for i in range(4)), "sysfs")
NO_SWITCH = Pci((), "sysfs")
INSTALLED = InstalledDriver({}, (), frozenset(), "550.54.14", "dpkg")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    return Machine(monkeypatch, tmp_path)


def live(tmp_path: Path) -> LiveHost:
    return LiveHost(root=str(tmp_path / "root"))


def test_running(machine: Machine, tmp_path: Path) -> None:
    machine.file("/proc/1/comm", "systemd\n").file("/proc/812/comm", "nv-fabricmanage\n")
    assert fabric.look(live(tmp_path), SWITCHES, None, INSTALLED, None) == Fabric(4, True, "550.54.14", "sysfs")


def test_not_running(machine: Machine, tmp_path: Path) -> None:
    machine.file("/proc/1/comm", "systemd\n")
    assert fabric.look(live(tmp_path), SWITCHES, None, INSTALLED, None).running is False


def test_processes_cannot_be_seen(machine: Machine, tmp_path: Path) -> None:
    assert fabric.look(live(tmp_path), SWITCHES, None, None, None) == Fabric(4, None, None, "sysfs")


def test_container_does_not_show_the_hosts_processes(machine: Machine, tmp_path: Path) -> None:
    machine.file("/proc/1/comm", "bash\n")
    container = Container("docker", "", "", "/.dockerenv")
    assert fabric.look(live(tmp_path), SWITCHES, None, None, container).running is None


def test_switches_only_at_the_far_end_of_links(machine: Machine, tmp_path: Path) -> None:
    links = tuple(NvLink(i, True, remote=f"0000:c{i % 3}:00.0", remote_type="switch") for i in range(6))
    gpus = Gpus((Gpu(0, "NVIDIA H100", "0000:01:00.0", nvlinks=links),), "NVML")
    found = fabric.look(live(tmp_path), NO_SWITCH, gpus, None, None)
    assert (found.switches, found.source) == (3, "NVML")


def test_no_switch(machine: Machine, tmp_path: Path) -> None:
    with pytest.raises(NotApplicable):
        fabric.look(live(tmp_path), NO_SWITCH, None, None, None)


def test_nobody_could_look(machine: Machine, tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        fabric.look(live(tmp_path), None, None, None, None)


def test_recording(tmp_path: Path) -> None:
    (tmp_path / "root" / "proc").mkdir(parents=True)
    host = RecordedHost(str(tmp_path))
    assert fabric.look(host, SWITCHES, None, None, None).running is None  # its /proc holds no processes
    (tmp_path / "absent.txt").write_text("/run/nvidia-fabricmanager/nv-fabricmanager.pid\n")
    assert fabric.look(RecordedHost(str(tmp_path)), SWITCHES, None, None, None).running is False
    place = tmp_path / "root/run/nvidia-fabricmanager/nv-fabricmanager.pid"
    place.parent.mkdir(parents=True)
    place.write_text("812\n")
    assert fabric.look(RecordedHost(str(tmp_path)), SWITCHES, None, None, None).running is True
