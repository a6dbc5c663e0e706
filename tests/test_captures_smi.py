"""Real outputs of nvidia-smi, kept beside the checkout, compared with what they say to a reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import pytest
from nvidia_stand_ins import recorded

from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Driver, Gpu, Gpus, PcieLink, Topology
from tfdoctor.probes.parse import smi_error, smi_nvlink, smi_q, smi_table, smi_text, smi_topo, smi_xml
from tfdoctor.probes.parse.report import SmiReport

MIB = 2**20


@pytest.fixture
def captures(shared: Path) -> Path:
    folder = shared / "captures"
    if not folder.is_dir():
        pytest.skip("no captures beside this checkout")
    return folder


def text_of(captures: Path, name: str) -> str:
    return (captures / name).read_text(encoding="utf-8", errors="replace")


def report(captures: Path, name: str) -> SmiReport:
    parse = smi_xml.parse if name.endswith(".xml") else smi_text.parse
    found = parse(text_of(captures, name))
    assert found is not None
    return found


def told(gpu: Gpu) -> dict[str, Any]:
    return {
        "name": gpu.name, "bus": gpu.bus, "used": (gpu.memory_used or 0) // MIB, "total": (gpu.memory_total or 0) // MIB,
        "persistence": gpu.persistence, "mig": gpu.mig, "instances": len(gpu.mig_instances), "ecc": gpu.ecc.enabled,
        "reasons": gpu.throttle, "processes": gpu.processes and len(gpu.processes),
    }  # fmt: skip


XML: list[tuple[str, str, str, Optional[int], PcieLink, dict[str, Any]]] = [
    ("a100-sxm4-mig-v12", "535.54.03", "12.2", 4, PcieLink(4, 16, 4, 16, 4, 4), {
        "name": "NVIDIA A100-SXM4-80GB", "bus": "0000:01:00.0", "used": 50, "total": 81920, "persistence": False,
        "mig": True, "instances": 4, "ecc": True, "reasons": frozenset(), "processes": ()}),
    ("tesla-t4-v11", "515.105.01", "11.7", 1, PcieLink(3, 8, 3, 16), {
        "name": "Tesla T4", "bus": "0000:00:1e.0", "used": 1032, "total": 15360, "persistence": False,
        "mig": None, "instances": 0, "ecc": True, "reasons": frozenset(), "processes": 2}),
    ("rtx-3090-v12", "525.147.05", "12.0", 1, PcieLink(1, 16, 4, 16, 4), {
        "name": "NVIDIA GeForce RTX 3090", "bus": "0000:00:10.0", "used": 1, "total": 24576, "persistence": True,
        "mig": None, "instances": 0, "ecc": None, "reasons": {"idle"}, "processes": ()}),
    ("rtx-4000-sff-ada-v13", "595.84", "13.2", 1, PcieLink(1, 16, 4, 16, 4, 4), {
        "name": "NVIDIA RTX 4000 SFF Ada Generation", "bus": "0000:06:00.0", "used": 3534, "total": 20475,
        "persistence": True, "mig": None, "instances": 0, "ecc": False, "reasons": {"idle"}, "processes": 4}),
    ("gtx-1070-ti-minimal", "", "", None, PcieLink(1, 16), {
        "name": "GeForce GTX 1070 Ti", "bus": "0000:01:00.0", "used": 42, "total": 4096, "persistence": None,
        "mig": None, "instances": 0, "ecc": None, "reasons": None, "processes": None}),
    ("rtx-2080-windows", "516.59", "11.7", 1, PcieLink(3, 8, 3, 16), {
        "name": "NVIDIA GeForce RTX 2080", "bus": "0000:0a:00.0", "used": 862, "total": 8192, "persistence": None,
        "mig": None, "instances": 0, "ecc": None, "reasons": {"idle"}, "processes": 26}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "driver", "cuda", "attached", "pcie", "gpu"), XML)
def test_xml(
    captures: Path, name: str, driver: str, cuda: str, attached: Optional[int], pcie: PcieLink, gpu: dict[str, Any]
) -> None:
    found = report(captures, f"xml/{name}.xml")
    assert (found.driver, found.cuda, found.attached, found.truncated) == (driver, cuda, attached, False)
    assert len(found.gpus) == 1
    assert found.gpus[0].pcie == pcie
    assert told(found.gpus[0]) == gpu


def test_windows_driver_model(captures: Path) -> None:
    assert report(captures, "xml/rtx-2080-windows.xml").model == "wddm"
    assert report(captures, "xml/tesla-t4-v11.xml").model == ""


def test_t4_counts_retired_pages_and_ecc(captures: Path) -> None:
    gpu = report(captures, "xml/tesla-t4-v11.xml").gpus[0]
    assert (gpu.rows.pages, gpu.rows.corrected, gpu.rows.uncorrected, gpu.rows.pending) == (True, 0, 0, False)
    assert (gpu.ecc.volatile_uncorrected, gpu.ecc.aggregate_corrected) == (0, 0)
    assert (gpu.power, gpu.power_limit, gpu.temperature_slowdown) == (26.78, 70.0, 93)


def test_no_personal_folder_is_left_in_process_names(captures: Path) -> None:
    for path in (captures / "xml").glob("*.xml"):
        for gpu in report(captures, f"xml/{path.name}").gpus:
            assert not any("\\" in p.name or "/" in p.name for p in gpu.processes or ())


Q = [
    ("machines/h200/q.txt", "590.48.01", "13.1", "NVIDIA H200", PcieLink(5, 16, 5, 16, 5), True, False, 0),
    ("machines/h200/q-load.txt", "590.48.01", "13.1", "NVIDIA H200", PcieLink(5, 16, 5, 16, 5), True, False, 3),
    ("machines/h200-mig/q.txt", "590.48.01", "13.1", "NVIDIA H200", PcieLink(5, 16, 5, 16, 5), True, True, 0),
    ("machines/h100-vm/q.txt", "590.48.01", "13.1", "NVIDIA H100 80GB HBM3", PcieLink(5, 16, 5, 16, 5), True, False, 0),
    ("machines/h100-vm/q-load.txt", "590.48.01", "13.1", "NVIDIA H100 80GB HBM3", PcieLink(5, 16, 5, 16, 5), True, False, 3),
    ("machines/rtx2080s-drv610/q.txt", "610.57.04", "13.3", "NVIDIA GeForce RTX 2080 SUPER", PcieLink(1, 16, 3, 16, 3, 4),
     False, None, 2),
]  # fmt: skip


@pytest.mark.parametrize(("name", "driver", "cuda", "gpu", "pcie", "persistence", "mig", "processes"), Q)
def test_long_text(
    captures: Path, name: str, driver: str, cuda: str, gpu: str, pcie: PcieLink, persistence: bool, mig: Optional[bool],
    processes: int,
) -> None:  # fmt: skip
    found = smi_q.parse(text_of(captures, name))
    assert found is not None
    assert (found.driver, found.cuda, found.attached, len(found.gpus)) == (driver, cuda, 1, 1)
    one = found.gpus[0]
    assert (one.name, one.pcie, one.persistence, one.mig) == (gpu, pcie, persistence, mig)
    assert len(one.processes or ()) == processes


def test_mig_instances_of_the_h200(captures: Path) -> None:
    sizes = [71424, 71424, 33280, 16384, 16384]
    for name in ("q.txt", "table.txt"):
        (gpu,) = report(captures, f"machines/h200-mig/{name}").gpus
        assert [(instance.memory or 0) // MIB for instance in gpu.mig_instances] == sizes


def test_h200_under_load(captures: Path) -> None:
    (gpu,) = report(captures, "machines/h200/q-load.txt").gpus
    assert (gpu.utilization, gpu.clock_sm, gpu.throttle) == (100, 1980, frozenset())
    assert {p.name for p in gpu.processes or ()} == {"memhog", "gpu_burn"}
    assert (gpu.fabric_state, gpu.fabric_status, gpu.virtualization) == ("completed", 0, "passthrough")


def test_row_remap_excerpt(captures: Path) -> None:
    found = report(captures, "q-excerpts/a100-row-remap-pending.txt")
    assert (found.driver, found.attached) == ("510.73.08", 8)
    (gpu,) = found.gpus
    assert (gpu.ecc.volatile_corrected, gpu.ecc.aggregate_corrected, gpu.ecc.volatile_uncorrected) == (177, 177, 0)
    assert (gpu.rows.corrected, gpu.rows.uncorrected, gpu.rows.pending, gpu.rows.failed) == (1, 0, True, False)


TABLES = [
    ("machines/h200/table.txt", "590.48.01", "590.48.01", "13.1", 1),
    ("machines/h200-mig/table.txt", "590.48.01", "590.48.01", "13.1", 1),
    ("machines/rtx2080s-drv610/table.txt", "610.57.04", "610.57.04", "13.3", 1),
    ("tables/wsl2-4070s.txt", "555.52.01", "555.99", "12.5", 1),
    ("run-here/over-mock/a100/table.txt", "550.163.01", "550.163.01", "12.4", 8),
    ("run-here/over-mock/h100/table.txt", "550.163.01", "550.163.01", "12.4", 8),
    ("run-here/over-mock/t4/table.txt", "550.163.01", "550.163.01", "12.4", 4),
    ("run-here/over-mock/dual3090-x8-nv4/table.txt", "550.163.01", "535.183.01", "12.2", 2),
]


@pytest.mark.parametrize(("name", "smi", "driver", "cuda", "count"), TABLES)
def test_table(captures: Path, name: str, smi: str, driver: str, cuda: str, count: int) -> None:
    text = text_of(captures, name)
    found = smi_table.parse(text)
    assert found is not None
    assert (found.smi, found.driver, found.cuda, len(found.gpus)) == (smi, driver, cuda, count)
    assert smi_error.problem_of(text, None) == ""


def test_wsl2_versions_are_no_mismatch(captures: Path, tmp_path: Path) -> None:
    facts = recorded(tmp_path, {"nvidia-smi.txt": text_of(captures, "tables/wsl2-4070s.txt")})
    smi = facts.get(NvidiaSmi)
    assert (smi.problem, smi.version, facts.get(Driver).version) == ("", "555.52.01", "555.99")
    assert facts.get(Gpus).disagreements == ()


def test_table_of_a_sick_machine(captures: Path) -> None:
    text = text_of(captures, "run-here/over-mock/faulty-a100/table.txt")
    found = smi_table.parse(text)
    assert found is not None
    assert smi_error.problem_of(text, 15) == smi_error.problem_of(text, None) == "gpu-lost"
    assert [gpu.lost for gpu in found.gpus[:5]] == [False, True, False, True, False]
    assert [gpu.ecc.volatile_uncorrected for gpu in found.gpus[:5]] == [0, None, 1, 0, 2]
    assert all(gpu.processes is None for gpu in found.gpus)


def test_table_with_a_dead_fan(captures: Path) -> None:
    found = smi_table.parse(text_of(captures, "errors/table-fan-err.txt"))
    assert found is not None
    thirteen, fourteen = found.gpus
    assert (thirteen.index, thirteen.utilization) == (13, 0)
    assert (fourteen.index, fourteen.utilization, fourteen.temperature, fourteen.memory_used) == (14, 93, 68, MIB)


def test_processes_of_the_pair(captures: Path) -> None:
    found = smi_table.parse(text_of(captures, "run-here/over-mock/dual3090-x8-nv4/table.txt"))
    assert found is not None
    assert [[(p.pid, p.name, p.memory) for p in gpu.processes or ()] for gpu in found.gpus] == [
        [(1001, "Xorg", 20 * MIB), (4242, "python3", 380 * MIB)]
    ] * 2
    assert [gpu.mig for gpu in found.gpus] == [False, True]


def every_pair(count: int, level: str) -> dict[tuple[int, int], str]:
    return {(i, j): level for i in range(count) for j in range(i + 1, count)}


FIRST4, LAST4 = range(4), range(4, 8)
TOPO = [
    ("topo/2gpu-nv2.txt", every_pair(2, "NV2"), ["0-23"] * 2, {}),
    ("topo/2gpu-phb.txt", every_pair(2, "PHB"), ["0-11"] * 2, {}),
    ("topo/8xa100-nv12.txt", every_pair(8, "NV12"), ["0-23"] * 4 + ["24-47"] * 4, {**dict.fromkeys(FIRST4, 0), **dict.fromkeys(LAST4, 1)}),
    ("topo/8xh100-nv18.txt", every_pair(8, "NV18"), ["0-51"] * 4 + ["52-103"] * 4, {**dict.fromkeys(FIRST4, 0), **dict.fromkeys(LAST4, 1)}),
    ("topo/8xh100-ht-affinity.txt", every_pair(8, "NV18"), ["0-51,104-155"] * 4 + ["52-103,156-207"] * 4,
     {**dict.fromkeys(FIRST4, 0), **dict.fromkeys(LAST4, 1)}),
    ("topo/8x4090-all-sys-2nic.txt", every_pair(8, "SYS"), ["0-55,112-167"] * 4 + ["56-111,168-223"] * 4,
     {**dict.fromkeys(FIRST4, 0), **dict.fromkeys(LAST4, 1)}),
    ("topo/2x3090-sys-numa-blank.txt", every_pair(2, "SYS"), ["0-7,16-23", "8-15,24-31"], {1: 1}),
    ("topo/2gpu-nv12-8mlx5.txt", every_pair(2, "NV12"), ["48-95,144-191"] * 2, {0: 1, 1: 1}),
    ("machines/h200/topo-m.txt", {}, ["0-23"], {0: 0}),
    ("run-here/over-mock/a100/topo-m.txt", every_pair(8, "NV12"), ["0-63"] * 4 + ["64-127"] * 4,
     {**dict.fromkeys(FIRST4, 0), **dict.fromkeys(LAST4, 1)}),
    ("run-here/over-mock/h100/topo-m.txt", every_pair(8, "NV18"), None, None),
    ("run-here/over-mock/gb200/topo-m.txt", every_pair(8, "NV18"), None, {0: 0, 1: 0, 2: 1, 3: 1, 4: 2, 5: 2, 6: 3, 7: 3}),
    ("run-here/over-mock/b200/topo-m.txt", every_pair(8, "PIX"), None, None),
    ("run-here/over-mock/l40s/topo-m.txt", every_pair(8, "PIX"), None, {0: 0, 1: 0, 2: 1, 3: 1, 4: 0, 5: 0, 6: 1, 7: 1}),
    ("run-here/over-mock/t4/topo-m.txt", every_pair(4, "PIX"), ["0-63"] * 4, dict.fromkeys(FIRST4, 0)),
    ("run-here/over-mock/dual3090-x8-nv4/topo-m.txt", every_pair(2, "NV4"), ["0-15"] * 2, {0: 0, 1: 0}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "pairs", "cpus", "numa"), TOPO)
def test_topology(
    captures: Path,
    name: str,
    pairs: dict[tuple[int, int], str],
    cpus: Optional[list[str]],
    numa: Optional[dict[int, int]],
) -> None:
    found = smi_topo.parse(text_of(captures, name))
    assert found is not None
    assert found.pairs == pairs
    assert cpus is None or found.cpus == dict(enumerate(cpus))
    assert numa is None or found.numa == numa


@pytest.mark.parametrize(
    ("name", "count", "status"),
    [
        ("topo/p2p-r-8xh100-ok.txt", 8, "OK"), ("topo/p2p-r-2xl4-cns.txt", 2, "CNS"), ("topo/p2p-rw-2x5090-gns.txt", 2, "GNS"),
        ("run-here/over-mock/a100/topo-p2p-r.txt", 8, "OK"), ("run-here/over-mock/h100/topo-p2p-r.txt", 8, "OK"),
        ("run-here/over-mock/t4/topo-p2p-r.txt", 4, "NS"),
    ],
)  # fmt: skip
def test_peer_to_peer(captures: Path, name: str, count: int, status: str) -> None:
    found = smi_topo.parse(text_of(captures, name))
    assert found is not None
    assert found.pairs == every_pair(count, status)


@pytest.mark.parametrize(
    ("name", "gpus", "links", "speed"),
    [
        ("machines/h200/nvlink-s.txt", 1, 18, 26.562), ("machines/h100-vm/nvlink-s.txt", 1, 18, 26.562),
        ("run-here/over-mock/a100/nvlink-s.txt", 8, 12, 25.781), ("run-here/over-mock/h100/nvlink-s.txt", 8, 18, 26.562),
        ("run-here/over-mock/gb200/nvlink-s.txt", 8, 18, 53.125),
        ("run-here/over-mock/dual3090-x8-nv4/nvlink-s.txt", 2, 3, 14.062),
    ],
)  # fmt: skip
def test_links(captures: Path, name: str, gpus: int, links: int, speed: float) -> None:
    found = smi_nvlink.parse(text_of(captures, name))
    assert len(found) == gpus
    assert {len(gpu.links or ()) for gpu in found} == {links}
    assert {(link.active, link.speed) for gpu in found for link in gpu.links or ()} == {(True, speed)}


@pytest.mark.parametrize("name", ["machines/h200-mig/nvlink-s.txt", "machines/rtx2080s-drv610/nvlink-s.txt"])
def test_links_not_told(captures: Path, name: str) -> None:
    (gpu,) = smi_nvlink.parse(text_of(captures, name))
    assert gpu.links is None


ERRORS = [
    ("errors/no-devices.txt", 6, "no-devices"),
    ("errors/mismatch-new.txt", 18, "version-mismatch"),
    ("errors/gpu-lost.txt", 15, "gpu-lost"),
    ("errors/handle-unknown-space.txt", None, "unknown"),
    ("errors/wsl-no-driver.txt", 9, "driver-not-loaded"),
    ("run-here/smi-errors/no-libnvidia-ml.txt", 12, "library-missing"),
    ("run-here/smi-errors/no-driver.txt", 9, "driver-not-loaded"),
    ("run-here/smi-errors/mismatch.txt", 18, "version-mismatch"),
    ("run-here/smi-errors/no-permission.txt", 4, "no-permission"),
    ("run-here/smi-errors/blocked-by-os.txt", 17, "blocked-by-os"),
    ("run-here/smi-errors/unknown.txt", 255, "unknown"),
    ("run-here/smi-errors/gpu-lost-at-init.txt", 15, "gpu-lost"),
    ("run-here/smi-errors/no-devices.txt", 6, "no-devices"),
]


@pytest.mark.parametrize(("name", "code", "problem"), ERRORS)
def test_errors(captures: Path, name: str, code: Optional[int], problem: str) -> None:
    text = text_of(captures, name)
    assert smi_error.problem_of(text, code) == problem
    assert smi_error.problem_of(text, None) == problem  # as a recording has it


@pytest.mark.parametrize(
    ("name", "version"), [("errors/mismatch-new.txt", "570.124"), ("run-here/smi-errors/mismatch.txt", "535.261")]
)
def test_library_version_of_a_mismatch(captures: Path, name: str, version: str) -> None:
    assert smi_error.library_version(text_of(captures, name)) == version


def test_recording_made_of_one_machines_outputs(captures: Path, tmp_path: Path) -> None:
    folder = "machines/h200"
    facts = recorded(tmp_path, {
        "nvidia-smi.txt": text_of(captures, f"{folder}/q.txt"),
        "nvidia-smi-topo-m.txt": text_of(captures, f"{folder}/topo-m.txt"),
        "nvidia-smi-nvlink.txt": text_of(captures, f"{folder}/nvlink-s.txt"),
    })  # fmt: skip
    (gpu,) = facts.get(Gpus).gpus
    assert (gpu.compute_capability, gpu.active_nvlinks, gpu.cpu_affinity, gpu.numa_node) == ("9.0", 18, "0-23", 0)
    assert facts.get(Topology).levels == {}
    assert facts.get(Driver).version == "590.48.01"


def test_every_such_capture_is_looked_at_here(captures: Path) -> None:
    """A capture that arrives later is to be compared too."""
    here = Path(__file__).read_text(encoding="utf-8")
    names = [
        str(path.relative_to(captures))
        for pattern in ("xml/*.xml", "topo/*", "tables/*", "q-excerpts/*", "run-here/smi-errors/*", "machines/*/q*.txt",
                        "machines/*/table.txt", "machines/*/topo*", "machines/*/nvlink*", "run-here/over-mock/*/t*.txt")
        for path in captures.glob(pattern)
    ]  # fmt: skip
    assert names
    xml = [f"xml/{row[0]}.xml" for row in XML]
    assert [name for name in names if name not in here and name not in xml] == []
