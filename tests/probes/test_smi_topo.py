"""`nvidia-smi topo -m` and `-p2p r`, `nvidia-smi nvlink -s`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from smi_texts import matrix

from tfdoctor.probes.parse import smi_nvlink, smi_topo

NEW = "CPU Affinity\tNUMA Affinity\tGPU NUMA ID"
OLD = "CPU Affinity\tNUMA Affinity"


def test_network_cards_are_no_gpus() -> None:
    text = matrix(
        ["GPU0", "GPU1", "NIC0", "mlx5_1"],
        [
            ["X", "NV4", "PHB", "SYS"],
            ["NV4", "X", "SYS", "PIX"],
            ["PHB", "SYS", "X", "SYS"],
            ["SYS", "PIX", "SYS", "X"],
        ],
        ["0-3,8-11\t0\t\tN/A", "4-7,12-15\t1\t\tN/A"],
        NEW,
    )
    found = smi_topo.parse(text)
    assert found == smi_topo.SmiTopo((0, 1), {(0, 1): "NV4"}, {0: "0-3,8-11", 1: "4-7,12-15"}, {0: 0, 1: 1})


def test_blank_numa_cell() -> None:
    cells = [["X", "SYS"], ["SYS", "X"]]
    found = smi_topo.parse(matrix(["GPU0", "GPU1"], cells, ["0-7\t\tN/A\t\tN/A", "8-15\t1\t\tN/A"], NEW))
    assert found is not None
    assert (found.cpus, found.numa) == ({0: "0-7", 1: "8-15"}, {1: 1})


@pytest.mark.parametrize(("cell", "numa"), [("N/A", {}), ("0-1", {}), ("3", {0: 3})])
def test_numa_cell(cell: str, numa: dict[int, int]) -> None:
    found = smi_topo.parse(matrix(["GPU0"], [["X"]], [f"0-15\t{cell}"], OLD))
    assert found is not None
    assert found.numa == numa


def test_aligned_with_spaces() -> None:
    text = "      GPU0  GPU1  CPU Affinity  NUMA Affinity\nGPU0   X    PXB   0-23          0\nGPU1  PXB    X   24-47          1\n"
    assert smi_topo.parse(text) == smi_topo.SmiTopo((0, 1), {(0, 1): "PXB"}, {0: "0-23", 1: "24-47"}, {0: 0, 1: 1})


def test_columns_in_another_order() -> None:
    found = smi_topo.parse(matrix(["GPU1", "GPU0"], [["X", "NODE"], ["NODE", "X"]], ["0\t0", "0\t0"], OLD))
    assert found is not None
    assert found.pairs == {(0, 1): "NODE"}


def test_cell_without_an_answer() -> None:
    found = smi_topo.parse(matrix(["GPU0", "GPU1"], [["X", "N/A"], ["N/A", "X"]], [], OLD))
    assert found is not None
    assert found.pairs == {(0, 1): ""}


@pytest.mark.parametrize("status", ["OK", "CNS", "GNS", "TNS", "DR", "NS", "U"])
def test_peer_to_peer(status: str) -> None:
    text = f" \t\x1b[4mGPU0\tGPU1\t\x1b[0m\n GPU0\tX\t{status}\t\n GPU1\t{status}\tX\t\n\nLegend:\n"
    found = smi_topo.parse(text)
    assert found is not None
    assert found.pairs == {(0, 1): status}


@pytest.mark.parametrize("text", ["", "No devices were found", "GPU", "\tCPU Affinity\n"])
def test_something_else(text: str) -> None:
    assert smi_topo.parse(text) is None


def test_links() -> None:
    text = (
        "GPU 0: A card (UUID: GPU-0)\n\t Link 0: 25.781 GB/s\n\t Link 1: <inactive>\n"
        "GPU 1: Another card (UUID: GPU-1)\n\t Link 0: 25.781 GB/s\n\t Link 3: 25.781 GB/s\n"
    )
    one, other = smi_nvlink.parse(text)
    assert (one.index, one.name) == (0, "A card")
    assert [(link.index, link.active, link.speed) for link in one.links or ()] == [(0, True, 25.781), (1, False, None)]
    assert [link.index for link in other.links or ()] == [0, 3]


@pytest.mark.parametrize(
    "message",
    [
        "Nvlink queries are not supported for Devices in MIG mode",
        "NVML: Unable to retrieve NVLink information as all links are inActive",
    ],
)
def test_links_not_told(message: str) -> None:
    (gpu,) = smi_nvlink.parse(f"GPU 0: A card (UUID: GPU-0)\n{message}\n")
    assert gpu.links is None


def test_no_links() -> None:
    assert smi_nvlink.parse("GPU 0: A card\n")[0].links == ()
    assert smi_nvlink.parse("\n") == ()


WORDS = st.sampled_from(
    ["GPU0", "GPU1", "GPU 0: x", "NIC0", "X", " X ", "NV4", "SYS", "Link 0:", "5 GB/s", "0-3", "N/A", "\t", "\n", " "]
)


@given(st.one_of(st.text(), st.lists(WORDS, max_size=40).map("".join), st.lists(WORDS, max_size=40).map("\t".join)))
def test_no_text_makes_it_raise(text: str) -> None:
    smi_topo.parse(text)
    smi_nvlink.parse(text)
