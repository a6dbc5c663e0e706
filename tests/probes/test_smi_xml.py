"""`nvidia-smi -q -x` from driver 418 to 610."""

from __future__ import annotations

from typing import Any

import pytest
import smi_texts
from hypothesis import given
from hypothesis import strategies as st

from tfdoctor.probes.nvml import Ecc, Gpu, GpuProcess, MigInstance, PcieLink, RowRemap
from tfdoctor.probes.parse import smi_xml

MIB = 2**20
HEAD = {"driver_version": "535.104.05", "cuda_version": "12.2", "attached_gpus": "1"}
LINKS = {
    "pcie_gen": {
        "max_link_gen": "4", "current_link_gen": "1", "device_current_link_gen": "1", "max_device_link_gen": "5",
        "max_host_link_gen": "4",
    },
    "link_widths": {"max_link_width": "16x", "current_link_width": "8x"},
}  # fmt: skip


def card(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "id": "00000000:1A:00.0",
        "product_name": "Quadro RTX 6000",
        "display_active": "Disabled",
        "persistence_mode": "Enabled",
        "mig_mode": {"current_mig": "N/A", "pending_mig": "N/A"},
        "mig_devices": "None",
        "driver_model": {"current_dm": "N/A"},
        "uuid": "GPU-11111111-2222-3333-4444-555555555555",
        "gpu_virtualization_mode": {"virtualization_mode": "Pass-Through"},
        "pci": {"pci_bus_id": "00000000:1A:00.0", "pci_gpu_link_info": LINKS},
        "performance_state": "P2",
        "clocks_event_reasons": {
            "clocks_event_reason_gpu_idle": "Not Active",
            "clocks_event_reason_sw_power_cap": "Active",
            "clocks_event_reason_hw_thermal_slowdown": "Active",
        },
        "fb_memory_usage": {"total": "24576 MiB", "reserved": "300 MiB", "used": "1200 MiB", "free": "23076 MiB"},
        "compute_mode": "Exclusive_Process",
        "utilization": {"gpu_util": "17 %", "memory_util": "3 %"},
        "ecc_mode": {"current_ecc": "Enabled", "pending_ecc": "Disabled"},
        "temperature": {
            "gpu_temp": "41 C", "gpu_temp_slow_threshold": "95 C", "gpu_temp_max_gpu_threshold": "93 C",
        },
        "gpu_power_readings": {
            "power_draw": "61.50 W", "current_power_limit": "200.00 W", "default_power_limit": "260.00 W",
        },
        "module_power_readings": {"power_draw": "N/A", "current_power_limit": "999.00 W"},
        "clocks": {"graphics_clock": "1400 MHz", "sm_clock": "1395 MHz"},
        "max_clocks": {"sm_clock": "2100 MHz"},
        "fabric": {"state": "Completed", "status": "Success"},
        "processes": {
            "process_info": [
                {"pid": "4321", "type": "C", "process_name": "/home/somebody/env/bin/python", "used_memory": "1100 MiB"},
                {"pid": "77", "type": "G", "process_name": "/usr/lib/xorg/Xorg", "used_memory": "N/A"},
            ]
        },
    }  # fmt: skip
    return {**values, **changes}


def one(**changes: Any) -> Gpu:
    report = smi_xml.parse(smi_texts.xml([card(**changes)], HEAD))
    assert report is not None
    (gpu,) = report.gpus
    return gpu


def test_everything_about_a_gpu() -> None:
    gpu = one()
    assert (gpu.index, gpu.name, gpu.bus) == (0, "Quadro RTX 6000", "0000:1a:00.0")
    assert gpu.uuid == "GPU-11111111-2222-3333-4444-555555555555"
    assert (gpu.memory_total, gpu.memory_used) == (24576 * MIB, 1200 * MIB)
    assert gpu.pcie == PcieLink(1, 8, 4, 16, 5, 4)
    assert (gpu.compute_mode, gpu.persistence, gpu.display, gpu.mig) == ("exclusive-process", True, False, None)
    assert gpu.throttle == {"sw-power-cap", "hw-thermal"}
    assert (gpu.temperature, gpu.temperature_slowdown, gpu.temperature_max_operating) == (41, 95, 93)
    assert (gpu.power, gpu.power_limit, gpu.power_limit_default) == (61.5, 200.0, 260.0)
    assert (gpu.clock_sm, gpu.clock_sm_max, gpu.performance_state, gpu.utilization) == (1395, 2100, 2, 17)
    assert (gpu.fabric_state, gpu.fabric_status, gpu.virtualization) == ("completed", 0, "passthrough")
    assert gpu.processes == (
        GpuProcess(4321, 1100 * MIB, "python", "", "compute"),
        GpuProcess(77, None, "Xorg", "", "graphics"),
    )
    assert gpu.compute_capability is None
    assert gpu.nvlinks is None


def test_report() -> None:
    report = smi_xml.parse(smi_texts.xml([card(), card(id="00000000:3B:00.0")], {**HEAD, "attached_gpus": "2"}))
    assert report is not None
    assert (report.driver, report.cuda, report.model, report.attached) == ("535.104.05", "12.2", "", 2)
    assert not report.truncated
    assert [gpu.index for gpu in report.gpus] == [0, 1]


def test_names_of_driver_610() -> None:
    head = {
        "driver_version": "610.10 [Deprecated; use something else]", "cuda_version": "13.3 [Deprecated]",
        "kmd_version": "610.10.01", "cuda_umd_version": "13.3",
    }  # fmt: skip
    report = smi_xml.parse(smi_texts.xml([card()], head, "nvsmi_device_v13.dtd"))
    assert report is not None
    assert (report.driver, report.cuda) == ("610.10.01", "13.3")


def test_only_the_deprecated_names() -> None:
    report = smi_xml.parse(smi_texts.xml([], {"driver_version": "610.10 [Deprecated]", "cuda_version": "N/A"}))
    assert report is not None
    assert (report.driver, report.cuda, report.gpus) == ("610.10", "", ())


def test_throttle_reasons_before_driver_535() -> None:
    old = {
        "clocks_throttle_reason_gpu_idle": "Active",
        "clocks_throttle_reason_user_defined_clocks": "Not Active",
        "clocks_throttle_reason_hw_power_brake_slowdown": "Active",
    }
    assert one(clocks_event_reasons={}, clocks_throttle_reasons=old).throttle == {"idle", "hw-power-brake"}


def test_throttle_reasons_not_told() -> None:
    assert one(clocks_event_reasons="N/A").throttle is None
    assert one(clocks_event_reasons={"clocks_event_reason_gpu_idle": "N/A"}).throttle is None


def test_power_before_driver_535() -> None:
    old = {
        "power_draw": "30.00 W",
        "power_limit": "70.00 W",
        "enforced_power_limit": "65.00 W",
        "default_power_limit": "70.00 W",
    }
    gpu = one(gpu_power_readings="N/A", power_readings=old)
    assert (gpu.power, gpu.power_limit, gpu.power_limit_default) == (30.0, 65.0, 70.0)


def test_power_of_newest_drivers() -> None:
    new = {
        "average_power_draw": "N/A", "instant_power_draw": "38.89 W",
        "gpu_ceiling_power_limit": {"current_power_limit": "250.00 W", "default_power_limit": "260.00 W"},
    }  # fmt: skip
    gpu = one(gpu_power_readings=new)
    assert (gpu.power, gpu.power_limit, gpu.power_limit_default) == (38.89, 250.0, 260.0)


def test_ecc_counters_of_ampere() -> None:
    errors = {
        "volatile": {
            "sram_correctable": "1", "sram_uncorrectable": "2", "dram_correctable": "10", "dram_uncorrectable": "4",
        },
        "aggregate": {
            "sram_correctable": "5", "sram_uncorrectable_parity": "6", "sram_uncorrectable_secded": "7",
            "dram_correctable": "20", "dram_uncorrectable": "8",
        },
    }  # fmt: skip
    assert one(ecc_errors=errors).ecc == Ecc(True, False, 11, 6, 25, 21, 13)


def test_ecc_counters_before_ampere() -> None:
    errors = {
        "volatile": {"single_bit": {"device_memory": "1", "total": "3"}, "double_bit": {"total": "0"}},
        "aggregate": {"single_bit": {"total": "9"}, "double_bit": {"total": "2"}},
    }
    assert one(ecc_errors=errors).ecc == Ecc(True, False, 3, 0, 9, 2, None)


def test_row_remapping_and_retired_pages() -> None:
    rows = {
        "remapped_row_corr": "1", "remapped_row_unc": "2", "remapped_row_pending": "Yes", "remapped_row_failure": "No",
    }  # fmt: skip
    assert one(remapped_rows=rows).rows == RowRemap(1, 2, True, False)
    pages = {
        "multiple_single_bit_retirement": {"retired_count": "4"}, "double_bit_retirement": {"retired_count": "1"},
        "pending_retirement": "No",
    }  # fmt: skip
    assert one(remapped_rows="N/A", retired_pages=pages).rows == RowRemap(4, 1, False, None, pages=True)
    assert one(remapped_rows="N/A").rows == RowRemap()


def test_mig() -> None:
    devices = {"mig_device": [{"index": "0", "fb_memory_usage": {"total": "19968 MiB"}}, {"index": "1"}]}
    gpu = one(mig_mode={"current_mig": "Enabled"}, mig_devices=devices)
    assert gpu.mig is True
    assert gpu.mig_instances == (MigInstance("", 19968 * MIB), MigInstance("", None))
    assert gpu.memory_total == 24576 * MIB


def test_windows() -> None:
    report = smi_xml.parse(smi_texts.xml([card(driver_model={"current_dm": "WDDM"}, persistence_mode="N/A")], HEAD))
    assert report is not None
    assert report.model == "wddm"
    assert report.gpus[0].persistence is None


def test_lost_gpu() -> None:
    gpu = one(fb_memory_usage={"total": "GPU is lost", "used": "GPU is lost"}, temperature={"gpu_temp": "GPU is lost"})
    assert gpu.lost
    assert (gpu.memory_total, gpu.temperature) == (None, None)


def test_vgpu_license() -> None:
    product = {"licensed_product_name": "NVIDIA Virtual Compute Server", "license_status": "Unlicensed (Restricted)"}
    assert one(vgpu_software_licensed_product=product).license == "unlicensed"
    assert one(vgpu_software_licensed_product={"license_status": "Licensed (Expiry: 2030-1-1)"}).license == "licensed"


def test_processes_that_may_not_be_seen() -> None:
    assert one(processes="N/A").processes is None
    assert one(processes="").processes == ()


def test_almost_empty_gpu() -> None:
    text = smi_texts.xml([{"id": "0000:01:00.0", "product_name": "GeForce GTX 970"}], {})
    report = smi_xml.parse(text)
    assert report is not None
    assert report.gpus == (Gpu(0, "GeForce GTX 970", "0000:01:00.0"),)


@pytest.mark.parametrize("tenths", range(1, 10))
def test_cut_off(tenths: int) -> None:
    whole = smi_texts.xml([card(), card(id="00000000:3B:00.0")], HEAD)
    report = smi_xml.parse(whole[: len(whole) * tenths // 10])
    assert report is not None
    assert report.truncated
    assert report.driver == "535.104.05"
    assert len(report.gpus) == (1 if tenths < 6 else 2)


def test_value_cut_in_the_middle_is_no_value() -> None:
    whole = smi_texts.xml([card()], HEAD)
    report = smi_xml.parse(whole[: whole.index("535.104") + 5])
    assert report is not None
    assert report.driver == ""


def test_messages_around_the_report_do_not_matter() -> None:
    text = "modprobe: something else\n" + smi_texts.xml([card()], HEAD) + "WARNING: infoROM is corrupted\n"
    report = smi_xml.parse(text)
    assert report is not None
    assert (report.driver, report.truncated, len(report.gpus)) == ("535.104.05", False, 1)


def test_control_character_in_a_value() -> None:
    assert one(uuid="GPU-\x01\x1b").name == "Quadro RTX 6000"


@pytest.mark.parametrize("text", ["", "No devices were found\n", "<html></html>", "\x00"])
def test_something_else(text: str) -> None:
    assert smi_xml.parse(text) is None


def test_entities_are_not_expanded() -> None:
    bomb = (
        '<!DOCTYPE nvidia_smi_log [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><nvidia_smi_log><gpu><uuid>&b;</uuid></gpu>'
    )
    report = smi_xml.parse(bomb + "</nvidia_smi_log>")
    assert report is not None
    assert "aaaa" not in repr([gpu.uuid for gpu in report.gpus])


TAGS = st.sampled_from(
    ["gpu", "pci", "fb_memory_usage", "total", "driver_version", "mig_devices", "processes", "process_info", "pid"]
)
TREES = st.recursive(
    st.text(max_size=12),
    lambda inner: st.builds(lambda tag, body: f"<{tag}>{body}</{tag}>", TAGS, st.lists(inner, max_size=4).map("".join)),
    max_leaves=20,
)


@given(st.one_of(st.text(), TREES, TREES.map(lambda body: f"<nvidia_smi_log>{body}</nvidia_smi_log>")))
def test_no_text_makes_it_raise(text: str) -> None:
    smi_xml.parse(text)


@given(st.integers(0, 6000), st.text(max_size=20))
def test_no_damage_makes_it_raise(place: int, text: str) -> None:
    whole = smi_texts.xml([card()], HEAD)
    report = smi_xml.parse(whole[:place] + text + whole[place + len(text) :])
    assert report is None or len(report.gpus) <= 1 or "<gpu" in text
