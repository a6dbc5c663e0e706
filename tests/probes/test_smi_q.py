"""`nvidia-smi -q` as text."""

from __future__ import annotations

from typing import Any

import pytest
import smi_texts
from hypothesis import given
from hypothesis import strategies as st

from tfdoctor.probes.nvml import Ecc, Gpu, GpuProcess, MigInstance, PcieLink, RowRemap
from tfdoctor.probes.parse import smi_q

MIB = 2**20
HEAD = {
    "Timestamp": "Tue Mar  5 10:00:00 2024",
    "Driver Version": "535.104.05",
    "CUDA Version": "12.2",
    "Attached GPUs": "1",
}


def card(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "id": "00000000:1A:00.0",
        "Product Name": "Quadro RTX 6000",
        "Display Active": "Enabled",
        "Persistence Mode": "Disabled",
        "MIG Mode": {"Current": "Disabled", "Pending": "Disabled"},
        "Driver Model": {"Current": "N/A", "Pending": "N/A"},
        "GPU UUID": "GPU-11111111-2222-3333-4444-555555555555",
        "GPU Virtualization Mode": {"Virtualization Mode": "None"},
        "PCI": {
            "Bus Id": "00000000:1A:00.0",
            "GPU Link Info": {
                "PCIe Generation": {"Max": "3", "Current": "1", "Device Max": "4", "Host Max": "3"},
                "Link Width": {"Max": "16x", "Current": "16x"},
            },
        },
        "Performance State": "P8",
        "Clocks Event Reasons": {
            "Idle": "Active",
            "HW Slowdown": "Not Active",
            "SW Thermal Slowdown": "Active",
        },
        "FB Memory Usage": {"Total": "24576 MiB", "Used": "12 MiB"},
        "Compute Mode": "Default",
        "Utilization": {"GPU": "3 %"},
        "ECC Mode": {"Current": "Enabled", "Pending": "Enabled"},
        "ECC Errors": {
            "Volatile": {"SRAM Correctable": "0", "DRAM Correctable": "7", "DRAM Uncorrectable": "1"},
            "Aggregate": {"SRAM Uncorrectable Parity": "2", "SRAM Uncorrectable SEC-DED": "3"},
        },
        "Remapped Rows": {
            "Correctable Error": "0", "Uncorrectable Error": "1", "Pending": "Yes", "Remapping Failure Occurred": "No",
        },
        "Temperature": {"GPU Current Temp": "33 C", "GPU Slowdown Temp": "95 C", "GPU Max Operating Temp": "89 C"},
        "GPU Power Readings": {"Power Draw": "20.00 W", "Current Power Limit": "260.00 W", "Default Power Limit": "260.00 W"},
        "Clocks": {"SM": "300 MHz"},
        "Max Clocks": {"SM": "2100 MHz"},
        "Processes": "None",
    }  # fmt: skip
    return {**values, **changes}


PROCESSES = """    Processes
        GPU instance ID                   : N/A
        Process ID                        : 4321
            Type                          : C
            Name                          : /home/somebody/bin/python
            Used GPU Memory               : 1100 MiB
        Process ID                        : 77
            Type                          : G
            Name                          : /usr/lib/xorg/Xorg
            Used GPU Memory               : 4 MiB
"""


def one(tail: str = "", **changes: Any) -> Gpu:
    report = smi_q.parse(smi_texts.q_text([card(**changes)], HEAD) + tail)
    assert report is not None
    (gpu,) = report.gpus
    return gpu


def test_everything_about_a_gpu() -> None:
    gpu = one()
    assert (gpu.name, gpu.bus, gpu.mig) == ("Quadro RTX 6000", "0000:1a:00.0", False)
    assert gpu.pcie == PcieLink(1, 16, 3, 16, 4, 3)
    assert (gpu.compute_mode, gpu.persistence, gpu.display) == ("default", False, True)
    assert gpu.throttle == {"idle", "sw-thermal"}
    assert gpu.ecc == Ecc(True, True, 7, 1, None, 5, 5)
    assert gpu.rows == RowRemap(0, 1, True, False)
    assert (gpu.memory_total, gpu.memory_used) == (24576 * MIB, 12 * MIB)
    assert (gpu.temperature, gpu.temperature_slowdown, gpu.temperature_max_operating) == (33, 95, 89)
    assert (gpu.power, gpu.power_limit, gpu.power_limit_default) == (20.0, 260.0, 260.0)
    assert (gpu.clock_sm, gpu.clock_sm_max, gpu.performance_state, gpu.utilization) == (300, 2100, 8, 3)
    assert gpu.virtualization == "none"


def test_processes() -> None:
    changes = {k: v for k, v in card().items() if k != "Processes"}
    report = smi_q.parse(smi_texts.q_text([changes], HEAD) + PROCESSES)
    assert report is not None
    assert report.gpus[0].processes == (
        GpuProcess(4321, 1100 * MIB, "python", "", "compute"),
        GpuProcess(77, 4 * MIB, "Xorg", "", "graphics"),
    )


@pytest.mark.parametrize(("printed", "found"), [("None", ()), ("N/A", None)])
def test_no_processes(printed: str, found: object) -> None:
    assert one(Processes=printed).processes == found


def test_nested_reason() -> None:
    reasons = {"Idle": "Not Active", "HW Slowdown": {"HW Thermal Slowdown": "Active"}}
    assert one(**{"Clocks Event Reasons": reasons}).throttle == {"hw-thermal"}


def test_reasons_before_driver_535() -> None:
    reasons = {"Idle": "Not Active", "SW Power Cap": "Active"}
    assert one(**{"Clocks Event Reasons": {}, "Clocks Throttle Reasons": reasons}).throttle == {"sw-power-cap"}


def test_mig_devices() -> None:
    devices = [
        {"Index": "0", "Shared FB Memory Usage": {"Total": "71424 MiB"}},
        {"Index": "1", "FB Memory Usage": {"Total": "9 MiB"}},
    ]
    gpu = one(**{"MIG Mode": {"Current": "Enabled"}, "MIG Device": devices})
    assert gpu.mig_instances == (MigInstance("", 71424 * MIB), MigInstance("", 9 * MIB))


def test_head() -> None:
    report = smi_q.parse(smi_texts.q_text([card()], HEAD))
    assert report is not None
    assert (report.driver, report.cuda, report.attached) == ("535.104.05", "12.2", 1)


def test_names_of_driver_610() -> None:
    head = {
        "Driver Version": "610.10 [Deprecated]",
        "CUDA Version": "13.3 [Deprecated]",
        "KMD Version": "610.10.01",
        "CUDA UMD Version": "13.3",
    }
    report = smi_q.parse(smi_texts.q_text([], head))
    assert report is not None
    assert (report.driver, report.cuda) == ("610.10.01", "13.3")


def test_excerpt_with_cuts() -> None:
    text = "Driver Version   : 510.73.08\nGPU 00000000:10:1C.0\n    Product Name   : A card\n    [...]\n    Compute Mode   : Prohibited\n"
    report = smi_q.parse(text)
    assert report is not None
    assert (report.gpus[0].bus, report.gpus[0].compute_mode) == ("0000:10:1c.0", "prohibited")


def test_lost() -> None:
    assert one(**{"Compute Mode": "GPU is lost"}).lost


@pytest.mark.parametrize("text", ["", "No devices were found", "Driver Version of something: 3"])
def test_something_else(text: str) -> None:
    assert smi_q.parse(text) is None


LINES = st.lists(
    st.builds(
        lambda depth, name, value: " " * depth + name + value,
        st.integers(0, 20),
        st.sampled_from(
            ["GPU 00000000:01:00.0", "Processes", "Process ID", "PCI", "MIG Device", "Driver Version", "Total"]
        ),
        st.sampled_from(["", " :", " : N/A", " : 7", " : GPU is lost"]) | st.text(max_size=8).map(" : ".__add__),
    ),
    max_size=25,
).map("\n".join)


@given(st.one_of(st.text(), LINES, LINES.map("==NVSMI LOG==\n".__add__)))
def test_no_text_makes_it_raise(text: str) -> None:
    smi_q.parse(text)
