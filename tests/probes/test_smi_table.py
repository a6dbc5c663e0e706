"""The table of plain `nvidia-smi`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from smi_texts import GPU_ROW, row, table

from tfdoctor.probes.nvml import Ecc, Gpu, GpuProcess, MigInstance
from tfdoctor.probes.parse import smi_table

MIB = 2**20


def one(text: str) -> Gpu:
    report = smi_table.parse(text)
    assert report is not None
    (gpu,) = report.gpus
    return gpu


def test_everything_about_a_gpu() -> None:
    gpu = one(table([GPU_ROW]))
    assert (gpu.index, gpu.name, gpu.bus) == (0, "Quadro RTX 6000", "0000:1a:00.0")
    assert (gpu.memory_total, gpu.memory_used) == (24576 * MIB, 1200 * MIB)
    assert (gpu.persistence, gpu.display, gpu.mig) == (True, False, None)
    assert gpu.ecc == Ecc(enabled=True, volatile_uncorrected=3)
    assert (gpu.temperature, gpu.power, gpu.power_limit, gpu.performance_state) == (41, 61.0, 260.0, 2)
    assert (gpu.utilization, gpu.compute_mode) == (17, "exclusive-process")
    assert gpu.processes == ()


@pytest.mark.parametrize(
    ("versions", "found"),
    [
        ("NVIDIA-SMI 418.87.01    Driver Version: 418.87.01    CUDA Version: 10.1", ("418.87.01", "10.1", "418.87.01")),
        (
            "NVIDIA-SMI 610.10.01    KMD Version: 610.10.01     CUDA UMD Version: 13.3",
            ("610.10.01", "13.3", "610.10.01"),
        ),
        ("NVIDIA-SMI 555.52.01    Driver Version: 555.99     CUDA Version: 12.5", ("555.99", "12.5", "555.52.01")),
        ("NVIDIA-SMI 390.48       Driver Version: 390.48", ("390.48", "", "390.48")),
        ("NVIDIA-SMI 535.1        Driver Version: 535.1     CUDA Version: N/A", ("535.1", "", "535.1")),
        ("NVIDIA-SMI 535.1        Driver Version: ERR!     CUDA Version: ERR!", ("", "", "535.1")),
    ],
)
def test_versions(versions: str, found: tuple[str, str, str]) -> None:
    report = smi_table.parse(table([], versions))
    assert report is not None
    assert (report.driver, report.cuda, report.smi) == found


def changed(line: int, cell: int, text: str) -> Gpu:
    rows = [list(cells) for cells in GPU_ROW]
    rows[line][cell] = text
    return one(table([[(r[0], r[1], r[2]) for r in rows]]))


@pytest.mark.parametrize(
    ("cell", "ecc"),
    [
        ("N/A", Ecc()),
        ("Off", Ecc(enabled=False)),
        ("0", Ecc(True, None, None, 0)),
        ("2*", Ecc(True, None, None, 2)),
        ("ERR!", Ecc()),
    ],
)
def test_ecc_column(cell: str, ecc: Ecc) -> None:
    assert changed(0, 2, cell).ecc == ecc


def test_cut_name_is_kept_as_printed() -> None:
    assert changed(0, 0, "   0  NVIDIA GeForce RTX 4070 ...    Off").name == "NVIDIA GeForce RTX 4070 ..."


def test_two_digit_index_and_name_with_a_mode_in_it() -> None:
    gpu = changed(0, 0, "  14  NVIDIA Off Road On N/A           On")
    assert (gpu.index, gpu.name, gpu.persistence) == (14, "NVIDIA Off Road On N/A", True)


def test_errors_in_cells() -> None:
    gpu = changed(1, 0, "ERR!   68C    P2              99W / 130W")
    assert (gpu.temperature, gpu.performance_state, gpu.power) == (68, 2, 99.0)
    gpu = changed(1, 0, "  0%  ERR!    P0            ERR! /  N/A ")
    assert (gpu.temperature, gpu.performance_state, gpu.power) == (None, 0, None)


def test_lost_gpu() -> None:
    gpu = changed(1, 1, "GPU is lost")
    assert gpu.lost
    assert gpu.memory_total is None


def test_mig() -> None:
    boxes = [
        "|  0    2   0   0  |              22MiB / 71424MiB    | 16      0 |  3   0    3    0    3 |",
        "|                  |               0MiB / 59237MiB    |           |                       |",
        "|  0    3   0   1  |              17MiB / 33280MiB    | 32      0 |  2   0    2    0    2 |",
    ]
    gpu = one(table([[*GPU_ROW[:2], ("", "", "Enabled")]], boxes=boxes))
    assert gpu.mig is True
    assert gpu.mig_instances == (MigInstance("", 71424 * MIB), MigInstance("", 33280 * MIB))


def test_windows() -> None:
    rows = [("   0  GeForce RTX 2080          WDDM ", "00000000:0A:00.0  On", "N/A"), GPU_ROW[1]]
    report = smi_table.parse(table([rows]))
    assert report is not None
    assert (report.model, report.gpus[0].persistence, report.gpus[0].display) == ("wddm", None, True)


def test_processes_with_and_without_instances() -> None:
    processes = (
        "    0   N/A  N/A      1001  M+C+G   /usr/bin/Xorg                                20MiB ",
        "    0   N/A  N/A      4242      C   ...conda3/envs/somebody/bin/python          380MiB ",
        "    1      4300      C   python                                             N/A ",
        "    7   N/A  N/A      4400      G   another GPU's                                 1MiB ",
    )
    other = [("   1  Quadro RTX 6000                On ", "00000000:3B:00.0 Off", "0"), *GPU_ROW[1:]]
    report = smi_table.parse(table([GPU_ROW, other], processes=processes))
    assert report is not None
    assert report.gpus[0].processes == (
        GpuProcess(1001, 20 * MIB, "Xorg", "", "compute"),
        GpuProcess(4242, 380 * MIB, "python", "", "compute"),
    )
    assert report.gpus[1].processes == (GpuProcess(4300, None, "python", "", "compute"),)


def test_process_box_that_breaks_off_tells_nothing() -> None:
    text = table([GPU_ROW]).partition("|  No running")[0] + "Failed to query device index\n"
    assert one(text).processes is None


def test_processes_cut_away() -> None:
    report = smi_table.parse(table([GPU_ROW]).partition("Processes:")[0])
    assert report is not None
    assert report.truncated
    assert report.gpus[0].processes is None


def test_rows_without_the_head() -> None:
    assert one("\n".join(row(*cells) for cells in GPU_ROW)).name == "Quadro RTX 6000"


def test_repeated_table_is_read_once() -> None:
    boxes = ["|  0    2   0   0  |              22MiB / 71424MiB    | 16      0 |  3   0    3    0    3 |"]
    report = smi_table.parse(table([GPU_ROW], boxes=boxes) * 3)
    assert report is not None
    assert len(report.gpus) == 1
    assert len(report.gpus[0].mig_instances) == 1


@pytest.mark.parametrize("text", ["", "No devices were found", "NVIDIA-SMI has failed because", "| 1 | 2 |"])
def test_something_else(text: str) -> None:
    assert smi_table.parse(text) is None


@given(st.one_of(st.text(), st.text(alphabet="| +-0123456789MiB/NA:.COfn\n", max_size=300)))
def test_no_text_makes_it_raise(text: str) -> None:
    smi_table.parse(text)


@given(st.integers(0, 2000), st.text(alphabet="| 0N/A:\nx", max_size=30))
def test_no_damage_makes_it_raise(place: int, text: str) -> None:
    whole = table([GPU_ROW], processes=("    0   N/A  N/A      4242      C   python     380MiB ",))
    smi_table.parse(whole[:place] + text + whole[place + len(text) :])


def test_rubbish_is_read_in_reasonable_time() -> None:
    """Long runs of blanks are where a careless pattern takes minutes; this ends at once or the test run notices."""
    assert smi_table.parse("|   0  " + " " * 200_000 + "|\n" + "|  1 a" * 100_000) is None
