"""NVML asked through the real pynvml and a stand-in library: every kind of machine, and every way to fail."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import fake_nvml
import pytest
from nvidia_stand_ins import Machine

from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes import nvml_child
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Driver, Ecc, Gpu, GpuProcess, Gpus, Nvml, PcieLink, RowRemap, Topology

MIB = 2**20


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    return Machine(monkeypatch, tmp_path)


def only_gpu(machine: Machine) -> Gpu:
    (gpu,) = machine.facts().get(Gpus).gpus
    return gpu


def test_consumer_gpu(machine: Machine) -> None:
    facts = machine.nvml(fake_nvml.rtx3090()).facts()
    assert facts.get(Nvml) == Nvml("ok", 0, "", "550.54.14", "NVML")
    assert facts.get(Driver) == Driver("550.54.14", "12.4", "", "NVML")
    (gpu,) = facts.get(Gpus).gpus
    assert (gpu.index, gpu.name, gpu.bus) == (0, "NVIDIA GeForce RTX 3090", "0000:01:00.0")
    assert gpu.uuid == "GPU-00000000-0000-4000-8000-000000000000"
    assert gpu.uuid not in repr(gpu)
    assert gpu.compute_capability == "8.6"
    assert (gpu.memory_total, gpu.memory_used) == (24576 * MIB, MIB)
    assert gpu.pcie == PcieLink(1, 16, 4, 16, 4, None)
    assert (gpu.ecc, gpu.rows) == (Ecc(), RowRemap())
    assert gpu.mig is None
    assert (gpu.compute_mode, gpu.persistence, gpu.display) == ("default", False, False)
    assert gpu.throttle == {"idle"}
    assert (gpu.temperature, gpu.temperature_slowdown, gpu.temperature_max_operating) == (34, 95, 93)
    assert (gpu.power, gpu.power_limit, gpu.power_limit_default) == (22.0, 350.0, 350.0)
    assert (gpu.clock_sm, gpu.clock_sm_max, gpu.performance_state, gpu.utilization) == (210, 2100, 8, 0)
    assert gpu.processes == ()
    assert [link.active for link in gpu.nvlinks or ()] == [False] * 4
    assert (gpu.numa_node, gpu.cpu_affinity) == (0, "0-15")
    assert gpu.fabric_state is None
    assert (gpu.virtualization, gpu.license, gpu.errors) == ("none", "", ())
    assert facts.get(Topology) == Topology({}, {}, "NVML")


def test_bridged_pair(machine: Machine) -> None:
    facts = machine.nvml(fake_nvml.rtx3090_pair()).facts()
    one, other = facts.get(Gpus).gpus
    assert one.active_nvlinks == other.active_nvlinks == 4
    link = (one.nvlinks or ())[0]
    assert (link.version, link.remote, link.remote_type, link.speed, link.errors) == (3, other.bus, "gpu", 14.062, 0)
    assert facts.get(Topology) == Topology({(0, 1): "NV4"}, {(0, 1): "OK"}, "NVML")


def test_bridge_with_a_link_down(machine: Machine) -> None:
    facts = machine.nvml(fake_nvml.rtx3090_pair().but({"gpu.0.nvlink.2.state": 0, "gpu.1.nvlink.2.state": 0})).facts()
    one = facts.get(Gpus).gpus[0]
    assert [link.active for link in one.nvlinks or ()] == [True, True, False, True]
    assert facts.get(Topology).levels == {(0, 1): "NV3"}


def test_link_errors_are_added_up(machine: Machine) -> None:
    profile = fake_nvml.rtx3090_pair().but({"gpu.0.nvlink.1.error.replay": 7, "gpu.0.nvlink.1.error.crc_data": 5})
    one = machine.nvml(profile).facts().get(Gpus).gpus[0]
    assert [link.errors for link in one.nvlinks or ()] == [0, 12, 0, 0]


def test_eight_with_nvswitch(machine: Machine) -> None:
    facts = machine.nvml(fake_nvml.h100x8()).facts()
    gpus = facts.get(Gpus)
    assert len(gpus) == 8
    assert {gpu.active_nvlinks for gpu in gpus} == {18}
    assert {link.version for gpu in gpus for link in gpu.nvlinks or ()} == {4}
    assert {link.remote_type for gpu in gpus for link in gpu.nvlinks or ()} == {"switch"}
    assert [gpu.numa_node for gpu in gpus] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert {gpu.cpu_affinity for gpu in gpus} == {"0-47,96-143", "48-95,144-191"}
    assert {(gpu.fabric_state, gpu.fabric_status) for gpu in gpus} == {("completed", 0)}
    assert gpus.gpus[3].ecc == Ecc(True, True, 0, 0, 0, 0, 0)
    assert gpus.gpus[3].rows == RowRemap(0, 0, False, False)
    topology = facts.get(Topology)
    assert len(topology.levels) == 28
    assert set(topology.levels.values()) == {"NV18"}
    assert set(topology.p2p.values()) == {"OK"}


def test_fabric_that_has_not_come_up(machine: Machine) -> None:
    facts = machine.nvml(fake_nvml.h100x8().but({f"gpu.{i}.fabric": "2 0 0" for i in range(8)})).facts()
    assert {gpu.fabric_state for gpu in facts.get(Gpus)} == {"in-progress"}


def test_mig(machine: Machine) -> None:
    gpu = only_gpu(machine.nvml(fake_nvml.a100_mig()))
    assert gpu.mig is True
    assert [m.profile for m in gpu.mig_instances] == ["3g.40gb", "2g.20gb", "2g.20gb"]
    assert [m.memory for m in gpu.mig_instances] == [40192 * MIB, 19968 * MIB, 19968 * MIB]
    assert gpu.nvlinks is None  # not told, which is not the same as none
    assert gpu.utilization is None


def test_t4(machine: Machine) -> None:
    gpu = only_gpu(machine.nvml(fake_nvml.t4()))
    assert gpu.nvlinks == ()
    assert gpu.rows == RowRemap(0, 0, False, None, pages=True)
    assert gpu.virtualization == "passthrough"
    assert gpu.ecc.enabled is True


def test_retired_pages(machine: Machine) -> None:
    profile = fake_nvml.t4().but({"gpu.0.retired.dbe": "4096 8192", "gpu.0.retired_pending": 1})
    assert only_gpu(machine.nvml(profile)).rows == RowRemap(0, 2, True, None, pages=True)


def test_no_gpu(machine: Machine) -> None:
    facts = machine.nvml(fake_nvml.no_gpu()).facts()
    assert facts.get(Gpus).gpus == ()
    assert facts.get(Driver).version == "550.54.14"


def test_gpus_that_could_not_be_counted_are_not_none(machine: Machine) -> None:
    facts = machine.nvml(fake_nvml.rtx3090().but({"fail.nvmlDeviceGetCount_v2": 999})).facts()
    assert facts.get(Nvml).state == "ok"
    with pytest.raises(Unavailable):
        facts.get(Gpus)


def test_lost_gpu_does_not_spoil_the_other(machine: Machine) -> None:
    facts = machine.nvml(fake_nvml.lost_gpu()).facts()
    well, lost = facts.get(Gpus).gpus
    assert (well.lost, well.name, well.active_nvlinks) == (False, "NVIDIA A100-SXM4-80GB", 12)
    assert (lost.index, lost.lost, lost.name) == (1, True, "")
    assert facts.get(Topology).levels == {}


def test_gpu_lost_while_it_is_asked(machine: Machine) -> None:
    gpu = only_gpu(machine.nvml(fake_nvml.rtx3090().but({"gpu.0.power_usage": "!15"})))
    assert (gpu.lost, gpu.name, gpu.power) == (True, "NVIDIA GeForce RTX 3090", None)


def test_handle_refused(machine: Machine) -> None:
    one, other = machine.nvml(fake_nvml.rtx3090_pair().but({"gpu.1.handle": "!999"})).facts().get(Gpus).gpus
    assert one.errors == ()
    assert (other.name, other.lost, other.errors) == ("", False, ("nvmlDeviceGetHandleByIndex: Unknown Error",))


def test_ecc_errors(machine: Machine) -> None:
    gpu = only_gpu(machine.nvml(fake_nvml.ecc_errors()))
    assert gpu.ecc == Ecc(True, True, 4, 2, 128, 3, 0)
    assert gpu.rows == RowRemap(0, 1, False, False)


def test_row_remapping(machine: Machine) -> None:
    assert only_gpu(machine.nvml(fake_nvml.row_remap_pending())).rows == RowRemap(0, 1, True, False)


def test_row_remapping_failed(machine: Machine) -> None:
    assert only_gpu(machine.nvml(fake_nvml.row_remap_failure())).rows == RowRemap(0, 8, False, True)


def test_driver_without_newer_functions(machine: Machine) -> None:
    facts = machine.nvml(fake_nvml.old_driver(), without=fake_nvml.NEWER_SYMBOLS).facts()
    assert facts.get(Driver) == Driver("470.82.01", "11.4", "", "NVML")
    (gpu,) = facts.get(Gpus).gpus
    assert gpu.memory_total == 15360 * MIB
    assert gpu.memory_used == 389 * MIB  # the older function counts the driver's reserve as used
    assert gpu.throttle == {"idle"}
    assert gpu.processes == ()
    assert gpu.pcie.gpu_max_generation is None
    assert gpu.errors == ()


def test_narrow_and_slow_host_link(machine: Machine) -> None:
    profile = fake_nvml.rtx3090().but({"gpu.0.pcie_width": 8, "gpu.0.pcie_gen_max": 3})
    assert only_gpu(machine.nvml(profile)).pcie == PcieLink(1, 8, 3, 16, 4, 3)


def test_one_query_that_fails_is_named_and_costs_nothing_else(machine: Machine) -> None:
    gpu = only_gpu(machine.nvml(fake_nvml.rtx3090().but({"gpu.0.power_usage": "!999"})))
    assert (gpu.power, gpu.power_limit) == (None, 350.0)
    assert gpu.errors == ("nvmlDeviceGetPowerUsage: Unknown Error",)


def test_busy_gpu(machine: Machine) -> None:
    gpu = only_gpu(machine.nvml(fake_nvml.busy_gpu()))
    assert gpu.throttle == {"hw-slowdown", "sw-thermal", "hw-thermal"}
    assert [(p.name, p.kind) for p in gpu.processes or ()] == [
        ("python3", "compute"),
        ("python3", "compute"),
        ("Xorg", "graphics"),
    ]
    assert (gpu.processes or ())[0].memory == 21000 * MIB


def test_owner_of_a_process_is_told_without_a_name(machine: Machine) -> None:
    library = Path(machine.nvml(fake_nvml.rtx3090()).environment["LD_LIBRARY_PATH"].partition(":")[0])
    waits = (
        f"import ctypes, sys; ctypes.CDLL({str(library / 'libnvidia-ml.so.1')!r}); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", waits], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        profile = fake_nvml.rtx3090().but(
            {
                "gpu.0.compute_processes": f"{process.pid}:100",
                f"process.{process.pid}": "/home/somebody/venv/bin/python",
            }
        )
        gpu = only_gpu(machine.nvml(profile))
        process.stdin.close()
    assert gpu.processes == (GpuProcess(process.pid, 100 * MIB, "python", "this user", "compute"),)


def test_process_memory_not_told(machine: Machine) -> None:
    gpu = only_gpu(machine.nvml(fake_nvml.rtx3090().but({"gpu.0.compute_processes": "99999999:-"})))
    assert gpu.processes == (GpuProcess(99999999, None, "", "", "compute"),)


def test_different_gpus(machine: Machine) -> None:
    facts = machine.nvml(fake_nvml.mixed_pair()).facts()
    assert [gpu.compute_capability for gpu in facts.get(Gpus)] == ["8.6", "6.1"]
    assert facts.get(Topology).levels == {(0, 1): "PHB"}


def test_p2p_refused(machine: Machine) -> None:
    profile = fake_nvml.mixed_pair().but({"p2p.*.*.read": 1})
    assert machine.nvml(profile).facts().get(Topology).p2p == {(0, 1): "CNS"}


def test_vgpu_license(machine: Machine) -> None:
    base = fake_nvml.t4().but({"gpu.0.virtualization_mode": 2})
    unlicensed = base.but({"gpu.0.vgpu_license": "1 0 NVIDIA Virtual Compute Server"})
    assert only_gpu(machine.nvml(unlicensed)).license == "unlicensed"


@pytest.mark.parametrize(
    ("code", "state"),
    [
        (4, "no-permission"), (9, "driver-not-loaded"), (15, "gpu-lost"), (16, "reset-required"),
        (17, "blocked-by-os"), (18, "version-mismatch"), (20, "unknown"), (999, "unknown"), (12345, "unknown"),
    ],
)  # fmt: skip
def test_init_fails(machine: Machine, code: int, state: str) -> None:
    facts = machine.nvml(fake_nvml.init_fails(code)).facts()
    nvml = facts.get(Nvml)
    assert (nvml.state, nvml.code, nvml.library_version) == (state, code, "550.54.14")
    assert nvml.error
    with pytest.raises(Unavailable):
        facts.get(Gpus)
    assert facts.get(NvidiaSmi).problem == "missing"


def test_library_that_cannot_be_loaded(machine: Machine) -> None:
    facts = machine.no_nvml().facts()
    nvml = facts.get(Nvml)
    assert (nvml.state, nvml.code) == ("library-missing", 12)
    assert "libnvidia-ml.so.1" in nvml.error


def test_without_a_driver_there_is_none_to_judge(machine: Machine) -> None:
    facts = machine.nvml(fake_nvml.init_fails(9)).file("/proc/modules", "ext4 1 0 - Live 0x0\n").facts()
    with pytest.raises(NotApplicable):
        facts.get(Driver)


def test_driver_from_the_kernel_when_nvml_does_not_match_it(machine: Machine) -> None:
    text = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\nGCC version:\n"
    facts = machine.nvml(fake_nvml.init_fails(18)).file("/proc/driver/nvidia/version", text).facts()
    driver = facts.get(Driver)
    assert (driver.version, driver.cuda) == ("535.183.01", "")


def test_kernel_and_nvml_disagree(machine: Machine) -> None:
    text = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.40.07  Sun May 12 19:39:15 UTC 2024\n"
    facts = machine.nvml(fake_nvml.rtx3090()).file("/proc/driver/nvidia/version", text).facts()
    (said,) = facts.get(Gpus).disagreements
    assert "550.54.14" in said and "550.40.07" in said


def test_numa_node_from_the_bus_when_the_driver_does_not_tell(machine: Machine) -> None:
    machine.nvml(fake_nvml.rtx3090().but({"gpu.0.memory_affinity": None}))
    machine.file("/sys/bus/pci/devices/0000:01:00.0/numa_node", "1\n")
    assert only_gpu(machine).numa_node == 1


def test_no_numa_node(machine: Machine) -> None:
    machine.nvml(fake_nvml.rtx3090().but({"gpu.0.memory_affinity": None}))
    machine.file("/sys/bus/pci/devices/0000:01:00.0/numa_node", "-1\n")
    assert only_gpu(machine).numa_node is None


def test_init_that_never_returns(machine: Machine) -> None:
    facts = machine.nvml(fake_nvml.hanging("nvmlInit")).facts(timeout=1.0)
    began = time.monotonic()
    assert facts.get(Nvml).state == "timed-out"
    for fact in (Driver, Gpus, NvidiaSmi):
        with pytest.raises(Unavailable):
            facts.get(fact)
    assert time.monotonic() - began < 30


def test_one_gpu_that_never_answers_is_named(machine: Machine) -> None:
    profile = fake_nvml.hanging("nvmlDeviceGetMemoryInfo_v2", fake_nvml.rtx3090_pair(), gpu=1)
    facts = machine.nvml(profile).facts(timeout=6.0)
    nvml = facts.get(Nvml)
    assert (nvml.state, nvml.code) == ("timed-out", None)
    assert "GPU 1" in nvml.error
    assert facts.get(Driver).version == "550.54.14"
    with pytest.raises(Unavailable):
        facts.get(Gpus)


@pytest.mark.parametrize("function", ["nvmlInit", "nvmlDeviceGetName", "nvmlDeviceGetP2PStatus"])
def test_crash(machine: Machine, function: str) -> None:
    facts = machine.nvml(fake_nvml.crashing(function, fake_nvml.rtx3090_pair())).facts()
    nvml = facts.get(Nvml)
    assert (nvml.state, nvml.code) == ("crashed", None)
    assert "11" in nvml.error  # the signal
    with pytest.raises(Unavailable):
        facts.get(Gpus)


def test_slow_gpus_are_asked_side_by_side(machine: Machine) -> None:
    """Eight GPUs that take 0.4 s each: one after the other would be 2.8 s more than one, in every one of three rounds."""
    cards = {count: fake_nvml.system([fake_nvml.card_h100(i) for i in range(count)]) for count in (1, 8)}

    def seconds(count: int) -> float:
        machine.nvml(cards[count].but({"slow.nvmlDeviceGetHandleByIndex_v2": 400}))
        began = time.monotonic()
        assert len(machine.facts().get(Gpus)) == count
        return time.monotonic() - began

    assert any(seconds(8) - seconds(1) < 7 * 0.4 * 0.6 for _round in range(3))


def test_answer_is_one_json_object_on_the_last_line(machine: Machine) -> None:
    machine.nvml(fake_nvml.rtx3090())
    done = subprocess.run([sys.executable, nvml_child.__file__], capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["state"] == "ok"
    assert done.stderr == ""


def test_broken_pynvml(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "pynvml.py").write_text("raise RuntimeError('half installed')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    nvml = machine.facts().get(Nvml)
    assert (nvml.state, nvml.code) == ("unknown", None)
    assert "half installed" in nvml.error


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/usr/bin/python3 train.py --key secret", "python3"),
        ("python", "python"),
        ("ray::Worker /home/somebody/x", "ray::Worker"),
        ("C:\\Program Files\\App One\\app.exe --x", "app"),
        ('"C:\\Program Files\\App\\app.exe"', "app"),
        ("", ""),
        ("   ", ""),
        ("./gpu_burn", "gpu_burn"),
    ],
)
def test_program_name(command: str, name: str) -> None:
    assert nvml_child.program_name(command) == name


@pytest.mark.parametrize(("numbers", "written"), [([], ""), ([0], "0"), ([0, 1, 2, 8], "0-2,8"), ([3, 5], "3,5")])
def test_ranges(numbers: list[int], written: str) -> None:
    assert nvml_child.ranges(numbers) == written
