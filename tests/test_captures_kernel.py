"""Outputs of real machines (kept beside the checkout, not in it): the kernel-side parsers against their index's values."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfdoctor.engine import Facts, all_probes
from tfdoctor.host import RecordedHost
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.parse import dmesg, kfd, lspci, proc_driver
from tfdoctor.probes.pci import Link, Pci
from tfdoctor.probes.surroundings import Cloud
from tfdoctor.tables import Tables


@pytest.fixture
def captures(shared: Path) -> Path:
    if not (shared / "captures").is_dir():
        pytest.skip("no captures beside this checkout")
    return shared / "captures"


def recording(folder: Path, files: dict[str, Path]) -> Facts:
    for name, source in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(source.read_bytes())
    return Facts([RecordedHost(str(folder)), Tables()], all_probes())


def test_eight_h100_and_four_switches(captures, tmp_path):
    found = recording(tmp_path, {"lspci-vvv.txt": captures / "lspci/h100x8-vvv-nvidia-only.txt"}).get(Pci)
    assert [d.address for d in found.nvidia_gpus] == [
        f"0000:{bus}:00.0" for bus in ("19", "3b", "4c", "5d", "9b", "bb", "cb", "db")
    ]
    assert {d.link for d in found.nvidia_gpus} == {Link(5, 16, 5, 16)}
    assert {d.device for d in found.nvidia_gpus} == {"2330"}
    assert {d.bars for d in found.nvidia_gpus} == {(16 * 2**20, 128 * 2**30, 32 * 2**20)}
    assert {d.driver for d in found.nvidia_gpus} == {"nvidia"}
    assert [d.link for d in found.nvswitches] == [Link(4, 2, 4, 2)] * 4


def test_a100_virtual_machine(captures, tmp_path):
    found = recording(tmp_path, {"lspci-vvv.txt": captures / "lspci/a100-nn.txt"}).get(Pci)
    assert [d.device for d in found.nvidia_gpus] == ["20b2"] * 8
    assert [d.device for d in found.nvswitches] == ["1af1"] * 6
    assert found.nvidia_gpus[0].address == "0001:00:00.0"
    assert found.nvidia_gpus[0].driver is None


def test_idle_downshift(captures):
    (card,) = lspci.parse((captures / "lspci/4090-riser-gen1.txt").read_text())
    assert card.link == (1, 16, 4, 16)


@pytest.mark.parametrize(
    ("name", "version", "flavour"),
    [
        ("proprietary-390-gcc54.txt", "390.48", "proprietary"),
        ("proprietary-515-talos.txt", "515.65.01", "proprietary"),
        ("proprietary-580-but-lib-580.178.txt", "580.173.02", "proprietary"),
        ("open-565-ubuntu.txt", "565.57.01", "open"),
        ("open-525-arch-no-date.txt", "525.60.11", "open"),
    ],
)
def test_driver_versions(captures, tmp_path, name, version, flavour):
    source = captures / "proc/version" / name
    assert proc_driver.version(source.read_text()) == (version, flavour)
    found = recording(tmp_path, {"root/proc/driver/nvidia/version": source}).get(KernelDriver)
    assert (found.loaded_version, found.flavour) == (version, flavour)


def test_gsp_timeouts(captures, tmp_path):
    found = recording(tmp_path, {"dmesg.txt": captures / "dmesg/xid119-h100.log"}).get(KernelLog)
    assert [(x.code, x.bus) for x in found.xids] == [(119, "0000:9b:00")] * 5
    assert (found.xids[0].pid, found.xids[0].process) == (2024380, "nvidia-smi")


def test_card_off_the_bus_and_switch_errors(captures):
    log = dmesg.parse((captures / "dmesg/xid79-and-sxid20034.log").read_text())
    assert [(x.code, x.bus, x.pid, x.process) for x in log.xids] == [(79, "0000:91:00", None, "")]
    assert {(s.code, s.switch, s.fatal) for s in log.sxids} == {(20034, f"nvidia-nvswitch{n}", True) for n in (0, 1, 2)}
    assert "fallen-off-bus" in dict(log.lines)


def test_limited_bandwidth(captures):
    log = dmesg.parse((captures / "dmesg/pcie-bandwidth-limited.log").read_text())
    assert [kind for kind, _line in log.lines] == ["pcie-limited"] * 2
    assert "0000:01:00.0" in log.lines[0][1]


@pytest.mark.parametrize(
    ("cloud", "provider", "instance"),
    [
        ("alibaba", "alibaba", ""),
        ("aws-nitro", "aws", "p4d.24xlarge"),
        ("azure", "azure", ""),
        ("gcp", "gcp", ""),
        ("hetzner", "hetzner", ""),
        ("huawei", "huawei", ""),
        ("openstack", "openstack", ""),
        ("oracle", "oracle", ""),
    ],
)
def test_clouds(captures, tmp_path, cloud, provider, instance):
    files = {f"root/sys/class/dmi/id/{f.name}": f for f in (captures / "dmi/cloud" / cloud).iterdir()}
    found = recording(tmp_path, files).get(Cloud)
    assert (found.provider, found.instance_type) == (provider, instance)


def test_no_cloud(captures, tmp_path):
    files = {f"root/sys/class/dmi/id/{f.name}": f for f in (captures / "dmi/dgx-spark-gb10").iterdir()}
    found = recording(tmp_path, files).get(Cloud)
    assert (found.provider, found.product) == ("", "NVIDIA_DGX_Spark")


@pytest.mark.parametrize(("name", "cards"), [("mi100-602", 4), ("rx6700xt-612", 1)])
def test_rocm_smi(captures, name, cards):
    found, driver = kfd.smi((captures / f"amd/rocm-smi-json-{name}.json").read_text())
    assert (len(found), driver) == (cards, "6.3.6")
